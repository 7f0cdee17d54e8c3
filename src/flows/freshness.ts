import type { MfaRecord } from '../session/record.js'

/** How fresh a second factor must be to change factors, in milliseconds: 5 minutes (R55, R61). */
export const FACTOR_CHANGE_MAX_AGE_MS = 5 * 60_000

/** Whether the session's second factor was shown within `maxAgeMs`. A time in the future is no proof (R17). */
export function isFresh(record: MfaRecord | undefined, maxAgeMs: number): boolean {
  if (!record?.verified) return false
  const ageMs = Date.now() - record.verified.at
  return ageMs >= 0 && ageMs < maxAgeMs
}
