import { ServiceError } from '../errors.js'
import { findFactor } from '../flows/person.js'
import type { View } from '../pages/view.js'
import { isCurrent } from '../session/slot.js'
import { listFactors } from '../visit/factor-view.js'
import { sendProblem } from '../visit/problem.js'
import { choosePage, hasBackup, sendRefusal, showPage } from './reply.js'
import type { Visitor } from './visitor.js'

/**
 * Shows the ways that remain when the service failed to deliver a code, as far as the option `outage` goes. Whoever
 * has none left gets the failure itself. Nothing is ever approved here.
 * @throws the error, when there is nothing to offer.
 */
export async function offerOtherWays(visitor: Visitor, error: unknown, asked: string): Promise<void> {
  const { req, res, deps, known, person, html } = visitor
  const { outage, logger, path } = deps.settings
  if (outage === 'closed' || !(error instanceof ServiceError) || error.code === 'ERR_MFA_SERVICE_KEY')
    throw error
  const failed = findFactor(person, asked)
  const factors = outage === 'other-factor' ? person.factors.filter(({ id }) => id !== failed?.id) : []
  const backup = hasBackup(visitor)
  if (factors.length === 0 && !backup) throw error

  logger.error(`countersign: ${error.message}`, error.cause ?? '')
  if (!(await isCurrent(req, known.userId))) return sendRefusal(visitor, { code: 'session_ended' })
  const { retryAfterSeconds } = error
  const problem = {
    code: 'delivery_unavailable',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  } as const
  if (!html) {
    return sendProblem(res, { ...problem, next: path, factors: listFactors(factors), backup }, error.status)
  }
  showPage(visitor, pageFor(visitor, factors), { tone: 'error', ...problem })
}

function pageFor(visitor: Visitor, factors: Visitor['person']['factors']): View {
  if (factors.length > 0)
    return choosePage({ ...visitor, person: { ...visitor.person, factors } }, hasBackup(visitor))
  return { page: 'code', factor: 'backup', dead: false, others: [], backup: false }
}
