import type { Request } from 'express'
import { HostError } from '../errors.js'
import type { Factor, LoginFactor } from '../protocol/factor.js'
import type { ExemptRecord } from './record.js'
import type { Account, SessionDeps } from './state.js'

/** What follows the first factor. */
export type Decision =
  /** The user must show a second factor. */
  | { readonly verdict: 'verify' }
  /** The user must set up a second factor first. */
  | { readonly verdict: 'enroll' }
  /** No second factor is required: for the whole session if the policy says so, else until the next request. */
  | {
      readonly verdict: 'pass'
      readonly exemption: ExemptRecord['exemption']
      readonly graceUntil?: number
    }

/**
 * Asks the host's policy. Without a policy, a user who has a factor must show it, and other users need none. A factor
 * that cannot be used now counts (R132). A user whose account was reset must show a factor first, whatever the policy says.
 * @throws {HostError} when the policy returns anything but its valid answers; the user is not signed in then.
 */
export async function decide(
  req: Request,
  { settings: { policy } }: Pick<SessionDeps, 'settings'>,
  { user, factors, withheld, reset }: Account,
  login: Readonly<Record<string, unknown>>,
): Promise<Decision> {
  if (reset) return { verdict: 'verify' }
  const hasFactor = factors.length + withheld.length > 0
  const needed: Decision = { verdict: hasFactor ? 'verify' : 'enroll' }
  if (!policy) return hasFactor ? needed : { verdict: 'pass', exemption: 'not_required' }
  const answer: unknown = await policy({
    user,
    req,
    login,
    factors: listedForHost({ factors, withheld }),
  })
  if (answer === 'require') return needed
  const exemption = exemptionIn(answer)
  if (exemption) return { verdict: 'pass', exemption }
  const graceUntil = graceIn(answer)
  if (graceUntil === undefined) {
    throw new HostError(
      'ERR_MFA_POLICY',
      'The option policy returned an unknown decision, so the user is not signed in. Return "require", "skip", { skip: true, mayEnroll: true } or { graceUntil: date }.',
    )
  }
  // A grace period is for setting up a factor; a user who has one must show it.
  if (hasFactor || Date.now() >= graceUntil) return needed
  return { verdict: 'pass', exemption: 'not_required', graceUntil }
}

/** Whether the answer exempts the session, and whether it says that the login proved the user (R120). */
function exemptionIn(answer: unknown): 'policy' | 'proven' | undefined {
  if (answer === 'skip') return 'policy'
  if (typeof answer !== 'object' || answer === null) return undefined
  if (Reflect.get(answer, 'skip') !== true) return undefined
  return Reflect.get(answer, 'mayEnroll') === true ? 'proven' : undefined
}

/** A user's factors as the host's callbacks see them. */
export function listedForHost({ factors, withheld }: Pick<Account, 'factors' | 'withheld'>): LoginFactor[] {
  const listed = ({ id, method }: Factor) => ({ id, method })
  return [
    ...factors.map(listed),
    ...withheld.map((factor) => ({ ...listed(factor), withheld: true as const })),
  ]
}

function graceIn(answer: unknown): number | undefined {
  const until: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'graceUntil') : undefined
  const ms = until instanceof Date ? until.getTime() : until
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined
}
