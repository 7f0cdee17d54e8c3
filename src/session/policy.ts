import type { Request } from 'express'
import { HostError } from '../errors.js'
import type { Factor } from '../protocol/factor.js'
import type { Settings } from '../settings.js'

/** What becomes of somebody who has shown the first factor. */
export type Decision =
  /** The second factor is asked for. */
  | { readonly verdict: 'ask' }
  /** They must set one up first. */
  | { readonly verdict: 'enrol' }
  /** They are let through. `remember`: for this session, as the host has said; otherwise it is asked again. */
  | { readonly verdict: 'pass'; readonly remember: boolean; readonly graceUntil?: number }

/**
 * Asks the host's policy. Without one, whoever has a factor is asked for it, and nobody has to have one.
 * @throws {HostError} when the policy's answer is none of those it may give: nobody is let through by mistake.
 */
export async function decide(
  req: Request,
  { policy }: Settings,
  user: Express.User,
  factors: readonly Factor[],
  login: Readonly<Record<string, unknown>>,
): Promise<Decision> {
  const needed: Decision = { verdict: factors.length > 0 ? 'ask' : 'enrol' }
  if (!policy) return factors.length > 0 ? needed : { verdict: 'pass', remember: false }
  const answer: unknown = await policy({
    user,
    req,
    login,
    factors: factors.map(({ id, method }) => ({ id, method })),
  })
  if (answer === 'require') return needed
  if (answer === 'skip') return { verdict: 'pass', remember: true }
  const graceUntil = graceIn(answer)
  if (graceUntil === undefined) {
    throw new HostError(
      'ERR_MFA_POLICY',
      'The option policy must answer "require", "skip" or { graceUntil: date }; nobody is let through by another answer.',
    )
  }
  // A grace period is for setting up a factor; who has one is asked for it.
  if (factors.length > 0 || Date.now() >= graceUntil) return needed
  return { verdict: 'pass', remember: false, graceUntil }
}

function graceIn(answer: unknown): number | undefined {
  const until: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'graceUntil') : undefined
  const ms = until instanceof Date ? until.getTime() : until
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined
}
