import { readDisabledFactors } from '../actions/context.js'
import { ServiceError } from '../errors.js'
import { findFactor, offeredFactors } from '../flows/user.js'
import { factorView, listFactors } from '../http/cookies.js'
import { logFailure, sendProblem } from '../http/problem.js'
import type { View } from '../pages/view.js'
import type { Factor } from '../protocol/factor.js'
import type { RouteContext } from './context.js'
import { backupOffer, choosePage, showPage } from './respond.js'

/** The service failed to deliver a code, and the user may use another factor. */
export interface Undelivered {
  readonly outcome: 'undelivered'
  readonly error: ServiceError
  readonly factors: readonly Factor[]
  readonly backup: boolean
}

// A wrong key is no outage. Nor is a service that is busy, or an attacker could cause one.
const KEPT_CLOSED = ['ERR_MFA_SERVICE_KEY', 'ERR_MFA_SERVICE_BUSY']

/**
 * The other factors that the option `outage` allows when the service failed to deliver a code. This never approves a code.
 * @throws the error of the service, if there is no other factor.
 */
export async function otherFactorsAfter(
  context: RouteContext,
  error: unknown,
  requested: string,
): Promise<Undelivered> {
  const { deps, user } = context
  const { outage, logger } = deps.settings
  if (outage === 'closed' || !(error instanceof ServiceError) || KEPT_CLOSED.includes(error.code)) throw error
  await readDisabledFactors(context)
  const failed = findFactor(user, requested)
  const factors = outage === 'other-factor' ? offeredFactors(user).filter(({ id }) => id !== failed?.id) : []
  const offer = await backupOffer(context)
  const backup = offer.backup || offer.mayHaveBackup === true
  if (factors.length === 0 && !backup) throw error
  logFailure(logger, error)
  return { outcome: 'undelivered', error, factors, backup }
}

/** Responds with the other factors. */
export async function respondUndelivered(
  context: RouteContext,
  { error, factors, backup }: Undelivered,
): Promise<void> {
  const { res, deps, html } = context
  const { retryAfterSeconds } = error
  const problem = {
    code: 'delivery_unavailable',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  } as const
  if (html) return showPage(context, await pageFor(context, factors), { tone: 'error', ...problem })
  const { path: next } = deps.settings
  sendProblem(res, { ...problem, next, factors: listFactors(factors), backup }, error.status)
}

async function pageFor(context: RouteContext, factors: readonly Factor[]): Promise<View> {
  if (factors.length > 0) return choosePage(context, factors.map(factorView))
  return { page: 'code', factor: 'backup', exhausted: false, others: [], backup: false }
}
