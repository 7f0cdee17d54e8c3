import type { Request } from 'express'
import { HostError } from '../errors.js'
import { readObject } from '../json.js'
import {
  type Factor,
  isAtLeast,
  isStrength,
  type LoginFactor,
  reaches,
  type Strength,
} from '../protocol/factor.js'
import { strongestRequired } from './known-account.js'
import type { ExemptRecord, Grace } from './record.js'
import type { Account, SessionDeps } from './state.js'

/** The step after the first factor. */
export type Decision =
  /** The user must show a second factor: of that strength, or of any with `grace`. */
  | { readonly verdict: 'verify'; readonly minStrength?: Strength; readonly grace?: Grace }
  /** The user must set up a second factor of that strength first. */
  | { readonly verdict: 'enroll'; readonly minStrength?: Strength; readonly grace?: undefined }
  /** No second factor is required: for the whole session if the policy says so, else until the next request. */
  | {
      readonly verdict: 'pass'
      readonly exemption: ExemptRecord['exemption']
      readonly grace?: Grace
    }

/** Asks the host's policy. Without one, a user who has a factor must show it (R132). @throws {HostError} for an invalid answer. */
export async function decide(
  req: Request,
  { settings: { policy } }: Pick<SessionDeps, 'settings'>,
  account: Account,
  login: Readonly<Record<string, unknown>>,
): Promise<Decision> {
  const { user, existing, reset } = account
  const hasFactor = existing.length > 0
  const requireFactor = (minStrength?: Strength): Decision => ({
    verdict: hasFactor || reset ? 'verify' : 'enroll',
    ...(minStrength && { minStrength }),
  })
  if (!policy) return hasFactor || reset ? requireFactor() : { verdict: 'pass', exemption: 'not_required' }
  const answer: unknown = await policy({ user, req, login, factors: listForHost(account) })
  if (answer === 'require' || (answer === 'optional' && (hasFactor || reset))) return requireFactor()
  if (answer === 'optional') return { verdict: 'pass', exemption: 'not_required' }
  const exemption = readExemption(answer)
  if (exemption) return reset ? requireFactor() : { verdict: 'pass', exemption }
  const { minStrength, graceUntil } = readRequirement(answer)
  // A grace period is for setting up a factor; a user who has one must show it.
  const isMet = existing.some(({ method }) => !minStrength || isAtLeast(method, minStrength))
  if (graceUntil === undefined || isMet || Date.now() >= graceUntil) return requireFactor(minStrength)
  const grace = { until: graceUntil, ...(minStrength && { minStrength }) }
  if (hasFactor || reset) return { ...requireFactor(), verdict: 'verify', grace }
  return { verdict: 'pass', exemption: 'not_required', grace }
}

/** The least strength that completes the login: what the policy requires, and what the account does. */
export function findRequiredStrength(decision: Decision, { minStrength }: Account): Strength | undefined {
  return decision.verdict === 'pass' ? minStrength : strongestRequired(minStrength, decision.minStrength)
}

/** Whether the answer exempts the session, and whether it says that the login proved the user (R120). */
function readExemption(answer: unknown): 'policy' | 'proven' | undefined {
  if (answer === 'skip') return 'policy'
  const { skip, mayEnroll } = readObject(answer)
  return skip === true && mayEnroll === true ? 'proven' : undefined
}

/** The factors of an account, with those withheld, as the host is told of them. */
export function listForHost({ factors, withheld }: Pick<Account, 'factors' | 'withheld'>): LoginFactor[] {
  const describeFactor = ({ id, method }: Factor) => ({ id, method })
  return [
    ...factors.map(describeFactor),
    ...withheld.map((factor) => ({ ...describeFactor(factor), withheld: true as const })),
  ]
}

/** The factor that the answer requires, and from when on. @throws {HostError} if it is no valid answer. */
function readRequirement(answer: unknown): { readonly minStrength?: Strength; readonly graceUntil?: number } {
  const { require: minStrength, graceUntil } = readObject(answer)
  const until = graceUntil instanceof Date ? graceUntil.getTime() : graceUntil
  const hasGrace = typeof until === 'number' && Number.isFinite(until)
  if (isStrength(minStrength) && hasGrace) return { minStrength, graceUntil: until }
  if (isStrength(minStrength) && until === undefined) return { minStrength }
  if (minStrength === undefined && hasGrace) return { graceUntil: until }
  throw new HostError(
    'ERR_MFA_POLICY',
    'The option policy returned an unknown decision, so the user is not signed in. Return "require", "optional", "skip", { skip: true, mayEnroll: true }, { require: "strong" } with or without graceUntil, or { graceUntil: date }.',
  )
}

/** Whether a grace period goes on for a session that showed this strength. */
export function isRunning({ minStrength }: Grace, shown: Strength): boolean {
  return minStrength !== undefined && !reaches(shown, minStrength)
}
