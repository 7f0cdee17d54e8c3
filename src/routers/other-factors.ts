import { ServiceError } from '../errors.js'
import { findFactor } from '../flows/user.js'
import { listFactors } from '../http/factors.js'
import { sendProblem } from '../http/problem.js'
import type { View } from '../pages/view.js'
import { isCurrent } from '../session/store.js'
import type { RouteContext } from './context.js'
import { choosePage, hasBackup, sendRefusal, showPage } from './respond.js'

/**
 * Shows the ways that remain when the service failed to deliver a code, as far as the option `outage` goes. Whoever
 * has none left gets the failure itself. Nothing is ever approved here.
 * @throws the error, when there is nothing to offer.
 */
export async function offerOtherFactors(context: RouteContext, error: unknown, asked: string): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const { outage, logger, path } = deps.settings
  if (outage === 'closed' || !(error instanceof ServiceError) || error.code === 'ERR_MFA_SERVICE_KEY')
    throw error
  const failed = findFactor(user, asked)
  const factors = outage === 'other-factor' ? user.factors.filter(({ id }) => id !== failed?.id) : []
  const backup = hasBackup(context)
  if (factors.length === 0 && !backup) throw error

  logger.error(`countersign: ${error.message}`, error.cause ?? '')
  if (!(await isCurrent(req, state.userId))) return sendRefusal(context, { code: 'session_ended' })
  const { retryAfterSeconds } = error
  const problem = {
    code: 'delivery_unavailable',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  } as const
  if (!html) {
    return sendProblem(res, { ...problem, next: path, factors: listFactors(factors), backup }, error.status)
  }
  showPage(context, pageFor(context, factors), { tone: 'error', ...problem })
}

function pageFor(context: RouteContext, factors: RouteContext['user']['factors']): View {
  if (factors.length > 0)
    return choosePage({ ...context, user: { ...context.user, factors } }, hasBackup(context))
  return { page: 'code', factor: 'backup', exhausted: false, others: [], backup: false }
}
