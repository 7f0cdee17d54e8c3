import { DAY_MS } from '../duration.js'
import type { Counters } from './counter.js'

/** How long sent backup codes are remembered. A process forgets them when it ends, and its timers reach 24 days. */
const REMEMBERED_MS = { shared: 3 * 365 * DAY_MS, memory: 24 * DAY_MS }

/** Stands for codes whose number the service did not say. No service sends as many. */
const UNCOUNTED = 1_000_000

/** Remembers which users were sent backup codes, for services that cannot say who has any. */
export interface SentBackupCodes {
  /** Remembers how many codes a user has now, such as after new ones were sent. */
  remember(userId: string, count: number | undefined): Promise<void>
  /** A code was used. */
  used(userId: string): Promise<void>
  /** How many are left, `some` if the number is unknown, `undefined` if it is unknown whether the user has any. */
  left(userId: string): Promise<number | 'some' | undefined>
}

/** Remembers sent backup codes in `store`. */
export function sentBackupCodesIn(store: Counters, kept: keyof typeof REMEMBERED_MS): SentBackupCodes {
  const rememberedMs = REMEMBERED_MS[kept]
  const codes = store('backup-codes', rememberedMs)
  return {
    remember: (userId, count = UNCOUNTED) => codes.set(userId, count, rememberedMs),
    async used(userId) {
      const { count, msLeft } = await codes.read(userId)
      if (msLeft > 0 && count > 0) await codes.add(userId, -1)
    },
    async left(userId) {
      const { count, msLeft } = await codes.read(userId)
      if (msLeft <= 0) return undefined
      return count > UNCOUNTED / 2 ? 'some' : count
    },
  }
}
