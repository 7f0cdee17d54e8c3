import type { Response } from 'express'
import { LimitsStoreError } from '../../errors.js'
import type { AccountRecovery } from '../../flows/recovery.js'
import { listOfferedFactors } from '../../flows/user.js'
import type { ChallengeView, FactorView } from '../../pages/view.js'
import type { DevelopmentInbox, Granted } from '../../protocol/service.js'
import { requireCurrent } from '../../session/store.js'
import type { RequestContext } from '../actions/context.js'
import { factorView } from '../http/listed-factors.js'

/** The argument of a route handler: a request of a user who showed the first factor, and what it needs to respond. */
export interface RouteContext extends RequestContext {
  readonly res: Response
  readonly html: boolean
}

/** The parts that only the routes of a single option use. */
export interface RouteParts {
  /** Present with the option `recovery`. */
  readonly recovery: AccountRecovery | undefined
  /** The messages that the service in this process did not really send. Present in development. */
  readonly inbox: DevelopmentInbox | undefined
}

/** The session's challenge as pages and responses show it, if it is live and its factor still exists. */
export function liveChallenge(context: RouteContext): ChallengeView | undefined {
  const challenge = lastChallenge(context)
  return challenge && challenge.expiresAt > Date.now() ? challenge : undefined
}

/** The session's challenge, live or expired, if its factor still exists. */
export function lastChallenge({ deps, state, user }: RouteContext): ChallengeView | undefined {
  const { challenge } = state.record
  const factor = user.factors.find(({ id }) => id === challenge?.factorId)
  if (!challenge || !factor) return undefined
  const { delivery, expiresAt, resendAt, service, reports = false } = challenge
  const mayChange = delivery === 'queued' || (delivery === 'sent' && reports)
  const follow = mayChange && service !== undefined && deps.deliveries.isSupported
  return {
    factor: factorView(factor),
    delivery,
    ...(follow && { follow }),
    ...(follow && reports && { reports }),
    expiresAt,
    ...(resendAt !== undefined && { resendAt }),
  }
}

/** How pages and responses show the delivery states of the service. */
const SHOWN: Readonly<Record<Granted<'deliveryOf'>['status'], ChallengeView['delivery']>> = {
  queued: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  failed: 'refused',
  refused: 'refused',
  expired: 'refused',
}

/** How long after a challenge the service is not asked about its message, since nothing can be known yet. */
const FRESH_MS = 2_000

/** The live challenge with the current delivery state. Sends nothing. @throws {SessionEndedError} */
export async function followChallenge(context: RouteContext): Promise<ChallengeView | undefined> {
  const live = liveChallenge(context)
  const { record } = context.state
  const { challenge } = record
  if (!live?.follow || challenge?.service === undefined) return live
  if (Date.now() - challenge.startedAt < FRESH_MS) return live
  const { service, resendAt: round = 0, reports = false } = challenge
  const message = { challenge: service, round, reports }
  const status = await context.deps.deliveries.of(message)
  await requireCurrent(context.req, record)
  if (status === undefined) return live
  const delivery = SHOWN[status]
  const isLast = delivery === 'delivered' || delivery === 'refused' || (delivery === 'sent' && !reports)
  return { ...live, delivery, follow: !isLast }
}

/** The user's factors as pages show them; during a step-up, only those that the route accepts. */
export function factorViews({ user, state }: RouteContext): FactorView[] {
  const wanted = state.record.stepUp?.factors
  return listOfferedFactors(user)
    .filter(({ id }) => wanted?.includes(id) ?? true)
    .map(factorView)
}

/** Seconds until the account's lock ends; 0 when it is not locked, or while the store fails. */
export async function countLockedSeconds({ deps, user }: RouteContext): Promise<number> {
  const limits = await ignoreStoreFailure(deps, () => user.limits())
  return limits?.lockedForSeconds ?? 0
}

/** Whether a challenge has no attempts left; false while the store fails. */
export async function isExhausted(
  { deps, user }: Pick<RouteContext, 'deps' | 'user'>,
  challenge: string,
): Promise<boolean> {
  const limits = await ignoreStoreFailure(deps, () => user.limits())
  return limits?.attemptsLeft(challenge) === 0
}

/** Whether another session shows a newer QR code than that of an enrollment; false while the store fails. */
export async function isReplaced({ deps, user }: RouteContext, enrollment: string): Promise<boolean> {
  const { lastEnrollments } = deps
  return (await ignoreStoreFailure(deps, () => lastEnrollments.isAnother(user.userId, enrollment))) ?? false
}

/** A page is shown without what the store knows. A code is refused in any case while the store fails. */
async function ignoreStoreFailure<Result>(
  { settings }: RouteContext['deps'],
  read: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof LimitsStoreError)) throw error
    settings.logger.error(`countersign: ${error.message}`, error.cause ?? '')
    return undefined
  }
}
