import { namespaced } from '../stores/namespaced.js'
import type { ItemStore } from '../stores/store.js'

/** The time before which a user's sessions, pending logins and trusted devices are void. */
export interface SessionsValidAfter {
  /** Whether something that started at `startedAt` (milliseconds since 1970) is void. */
  isVoid(userId: string, startedAt: number): Promise<boolean>
  /** Voids everything that started before now. */
  set(userId: string): Promise<void>
}

// Browsers keep no cookie for longer (RFC 6265bis §5.5), so no older session can come back afterwards.
const RETENTION_MS = 400 * 24 * 60 * 60_000

/** Keeps the times in `store`. */
export function sessionsValidAfterIn(store: ItemStore): SessionsValidAfter {
  // The names are part of the storage format.
  const items = namespaced(store, 'cutoff')
  return {
    async isVoid(userId, startedAt) {
      const [validAfter] = await items.read(userId)
      return validAfter !== undefined && !(startedAt > Number(validAfter.value))
    },
    async set(userId) {
      const now = Date.now()
      await items.put(userId, { id: 'cutoff', value: String(now), expiresAt: now + RETENTION_MS })
    },
  }
}
