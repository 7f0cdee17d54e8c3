import type { Method } from '../protocol/methods.js'
import type { MfaRecord } from '../session/record.js'

/** How fresh a second factor must be to change factors: 5 minutes, with any method (R55, R61). */
export const FACTOR_CHANGE: Freshness = { maxAgeMs: 5 * 60_000, accepts: () => true }

/** How fresh a second factor must be, and which methods are accepted. */
export interface Freshness {
  readonly maxAgeMs: number
  readonly accepts: (method: Method | 'backup') => boolean
}

/** Whether an accepted second factor was shown recently enough. A time in the future proves nothing (R17). */
export function isFresh(record: MfaRecord | undefined, { maxAgeMs, accepts }: Freshness): boolean {
  if (record?.stage !== 'verified') return false
  return Object.entries(record.shown).some(([method, at]) => {
    const ageMs = Date.now() - at
    return accepts(method as Method | 'backup') && ageMs >= 0 && ageMs < maxAgeMs
  })
}
