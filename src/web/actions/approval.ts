import { SessionEndedError } from '../../errors.js'
import { bindingOf, receiptOf } from '../../flows/approval.js'
import { type Refused, refuse } from '../../flows/deps.js'
import type { Finish } from '../../flows/login-step.js'
import type { AcceptedCode } from '../../flows/verify.js'
import type { MfaApproval } from '../../protocol/details.js'
import { newTransaction, setState } from '../../session/find-state.js'
import { activeState } from '../../session/known-account.js'
import { logInContinuing } from '../../session/log-in.js'
import type { MfaRecord, RequestedApproval } from '../../session/record.js'
import { rememberTarget, storeIfCurrent } from '../../session/store.js'
import type { RequestContext } from './context.js'

/** The user approved a request. */
export interface Approved {
  readonly outcome: 'approved'
  readonly approval: MfaApproval
  /** After a backup code: how many are left, if the service says. */
  readonly backupCodesLeft?: number
}

/** Makes an accepted factor the approval of a request, and of nothing else, under a new session id (R121). */
export async function grantApproval(
  context: RequestContext,
  approval: RequestedApproval,
  { method, shown, amr, factor, backupCodesLeft }: AcceptedCode,
  finish: Finish,
): Promise<Approved | Refused> {
  const { req, deps, shared, state } = context
  const { userId, record } = state
  const granted = {
    ...{ method, shown, amr: [...amr], binding: bindingOf(method, deps.service) },
    ...(factor !== undefined && { factor }),
  }
  const given = { ...approval, at: Date.now(), granted }
  const receipt = receiptOf(given)
  const isOpen = receipt !== undefined && (await deps.approvalRequests.grant(userId, approval.id))
  const renewed = { ...withoutQuestion(record), transaction: newTransaction(), approval: given }
  if (!isOpen) return refuse({ code: 'approval_ended' })
  if (finish === 'request') {
    if (!(await storeIfCurrent(req, renewed, shared))) return refuse({ code: 'session_ended' })
    setState(context, activeState(state, renewed))
  } else {
    const release = async () => void (await deps.approvalRequests.consume(userId, approval.id))
    const renewal = { userId, renewed, release }
    try {
      if (finish === 'log-in') await logInContinuing(context, state.user, { renewal })
      else {
        rememberTarget(req, record.returnTo)
        shared.pendingRenewal = renewal
      }
    } catch (error) {
      if (error instanceof SessionEndedError) return refuse({ code: 'session_ended' })
      throw error
    }
  }
  const { binding } = granted
  deps.emit({
    type: 'approved',
    ...{ userId, method, approval: approval.id, binding, afterMs: Math.max(0, given.at - approval.at) },
  })
  return {
    outcome: 'approved',
    approval: receipt,
    ...(backupCodesLeft !== undefined && { backupCodesLeft }),
  }
}

/** Refuses the request that waits for approval, for good (R126). `approval_ended` if another one waits now. */
export async function refuseApproval(
  { req, deps, state }: RequestContext,
  approval: RequestedApproval,
): Promise<Refused | undefined> {
  const { userId, record } = state
  const { interrupted: _interrupted, approval: _approval, ...rest } = withoutQuestion(record)
  if (!(await deps.approvalRequests.consume(userId, approval.id))) return refuse({ code: 'approval_ended' })
  deps.emit({ type: 'approval_refused', userId, approval: approval.id })
  return (await storeIfCurrent(req, rest)) ? undefined : refuse({ code: 'session_ended' })
}

/** The record without what it has only while the user is asked. */
function withoutQuestion(record: MfaRecord): MfaRecord {
  const { challenge: _challenge, stepUp: _stepUp, refused: _refused, returnTo: _returnTo, ...rest } = record
  return rest
}
