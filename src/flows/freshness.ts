import type { Method } from '../protocol/methods.js'
import type { MfaRecord } from '../session/record.js'

/** How fresh a second factor must be to change factors: 5 minutes, whichever it is (R55, R61). */
export const FACTOR_CHANGE: Freshness = { maxAgeMs: 5 * 60_000, counts: () => true }

/** How fresh a second factor must be, and which ones count. */
export interface Freshness {
  readonly maxAgeMs: number
  readonly counts: (method: Method | 'backup') => boolean
}

/** Whether a second factor that counts was shown recently enough. A time in the future is no proof (R17). */
export function isFresh(record: MfaRecord | undefined, { maxAgeMs, counts }: Freshness): boolean {
  if (record?.stage !== 'verified') return false
  return Object.entries(record.shown).some(([method, at]) => {
    const ageMs = Date.now() - at
    return counts(method as Method | 'backup') && ageMs >= 0 && ageMs < maxAgeMs
  })
}
