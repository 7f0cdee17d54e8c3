import { findStrongest, getStrength, reaches, type ShownMethod, type Strength } from '../protocol/factor.js'
import type { MfaRecord } from '../session/record.js'
import type { MfaUser } from './user.js'

/** How old a second factor may be to change factors (R55, R61). */
export const FACTOR_CHANGE_MS = 5 * 60_000

/** How fresh a second factor must be, and which methods are accepted. */
export interface Freshness {
  readonly maxAgeMs: number
  readonly accepts: (shown: ShownMethod) => boolean
  /** Whether the setup of a factor in this session is enough. */
  readonly acceptsSetup?: boolean
  /** Whether evidence of an issuer with this strength is enough. Without it, only a factor of the account is (R112). */
  readonly acceptsEvidence?: ((strength: Strength) => boolean) | undefined
}

/** The rule for changing factors and trusting a browser: a factor of the last 5 minutes as strong as the strongest (R92, R132). */
export function factorChange(
  { existing }: Pick<MfaUser, 'existing'>,
  maxAgeMs = FACTOR_CHANGE_MS,
): Freshness & { readonly isEnough: (strength: Strength) => boolean } {
  const strongest = findStrongest(existing.map(({ method }) => method))
  const isEnough = (strength: Strength) => reaches(strength, strongest)
  return {
    maxAgeMs,
    accepts: (shown) => isEnough(getStrength(shown)),
    isEnough,
  }
}

/** The methods that were shown in the last 5 minutes, of any strength. They are enough for a recovery, which waits (R94). */
export function listRecentlyShown(record: MfaRecord | undefined): readonly ShownMethod[] {
  const freshness = { maxAgeMs: FACTOR_CHANGE_MS, accepts: () => true }
  if (record?.stage === 'pending' && record.recovery?.shown) {
    return isRecent(record.recovery.at, freshness) ? [record.recovery.shown] : []
  }
  if (record?.stage !== 'verified') return []
  return Object.entries(record.shown).flatMap(([shown, at]) =>
    isRecent(at, freshness) ? [shown as ShownMethod] : [],
  )
}

/** Whether a second factor was shown recently enough, here or to an issuer. A time in the future is not (R17). */
export function isFresh(record: MfaRecord | undefined, freshness: Freshness): boolean {
  if (record?.stage !== 'verified') return false
  const { shown: methods, setUp, evidence } = record
  const isEnough = ([shown, at]: [string, number]) =>
    freshness.accepts(shown as ShownMethod) && isRecent(at, freshness)
  const wasSetUp = freshness.acceptsSetup === true && setUp && Object.entries(setUp).some(isEnough)
  const wasShown = wasSetUp || Object.entries(methods).some(isEnough)
  if (wasShown || !evidence?.strength) return wasShown
  return (freshness.acceptsEvidence?.(evidence.strength) ?? false) && isRecent(evidence.authTime, freshness)
}

function isRecent(at: number, { maxAgeMs }: Freshness): boolean {
  const ageMs = Date.now() - at
  return ageMs >= 0 && ageMs < maxAgeMs
}
