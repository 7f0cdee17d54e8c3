import { digestOf } from '../../digest.js'
import { sessionEnded } from '../../errors.js'
import { createReceipt, findBinding } from '../../flows/approval.js'
import { type Refused, refuse } from '../../flows/deps.js'
import type { Finish } from '../../flows/login-step.js'
import { openApproval } from '../../flows/user.js'
import type { AcceptedCode } from '../../flows/verify.js'
import type { MfaApproval } from '../../protocol/details.js'
import { setState } from '../../session/find-state.js'
import { activeState } from '../../session/known-account.js'
import { logInContinuing, requireNotEnded } from '../../session/log-in.js'
import { newTransaction } from '../../session/pending-login.js'
import { type RequestedApproval, removeActivity } from '../../session/record.js'
import { rememberTarget, storeIfCurrent } from '../../session/store.js'
import { pickGiven } from '../../shape.js'
import { APPROVAL_MS } from '../../stores/limits/approval-requests.js'
import { iso } from '../../time.js'
import type { RequestContext } from './context.js'

/** The part that a record has only while the user is asked. */
const QUESTION = ['challenge', 'stepUp', 'refused', 'returnTo'] as const

/**
 * The request to approve, open already or new; as a number, the seconds to wait for a place (R126). What it replaces frees its place.
 * Without `asked`, for a step-up without an approval.
 */
export async function openRequest(
  { deps, state }: RequestContext,
  asked: Pick<RequestedApproval, 'digest' | 'details' | 'lines'> | undefined,
): Promise<RequestedApproval | number | undefined> {
  const { userId, record } = state
  const open = openApproval(record)
  if (open?.digest === asked?.digest) return open
  // A step-up for something else ends what is open, and leaves an approval that was given.
  const replaced = asked ? record.approval : open
  if (replaced) await deps.approvalRequests.consume(userId, replaced.id)
  if (!asked) return undefined
  // Equal requests of a session at once are one, as after a double click.
  const id = digestOf(JSON.stringify([record.transaction, asked.digest, replaced?.id]))
  const approval = { id, at: Date.now(), ...asked }
  return (await deps.approvalRequests.open(userId, id)) || approval
}

/** The user approved a request. */
export interface Approved {
  readonly outcome: 'approved'
  readonly approval: MfaApproval
}

/** Makes an accepted factor the approval of a request, and of nothing else, under a new session id (R121). @throws {SessionEndedError} */
export async function grantApproval(
  context: RequestContext,
  approval: RequestedApproval,
  { method, shown, amr, factor }: AcceptedCode,
  finish: Finish,
): Promise<Approved | Refused> {
  const { req, deps, shared, state } = context
  const { userId, record } = state
  const { id } = approval
  await requireNotEnded(context, record)
  if (!(await deps.approvalRequests.grant(userId, id))) return refuse({ code: 'approval_ended' })
  const binding = findBinding(method, deps.service)
  const granted = { method, shown, amr: [...amr], binding, ...pickGiven({ factor }) }
  const given = { ...approval, at: Date.now(), granted }
  const renewed = { ...removeActivity(record, ...QUESTION), transaction: newTransaction(), approval: given }
  const release = async () => void (await deps.approvalRequests.consume(userId, id))
  if (finish === 'request') {
    if (!(await storeIfCurrent(req, renewed, shared))) throw sessionEnded()
    setState(context, activeState(state, renewed))
  } else if (finish === 'log-in') {
    await logInContinuing(context, state.user, { userId, renewed, release })
  } else {
    rememberTarget(req, record.returnTo)
    shared.continued = { userId, renewed, release }
  }
  deps.emit({ type: 'approved', userId, method, approval: id, binding, afterMs: given.at - approval.at })
  return { outcome: 'approved', approval: createReceipt(given, granted) }
}

/** Refuses the request with this id for good (R126). `approval_ended` if it does not wait, or another one does. */
export async function refuseApproval(
  { req, deps, state }: RequestContext,
  approval = '',
): Promise<Refused | undefined> {
  const { userId, record } = state
  const isAsked = openApproval(record)?.id === approval
  if (!isAsked || !(await deps.approvalRequests.consume(userId, approval)))
    return refuse({ code: 'approval_ended' })
  deps.emit({ type: 'approval_refused', userId, approval })
  const rest = {
    ...removeActivity(record, ...QUESTION, 'interrupted', 'approval'),
    transaction: newTransaction(),
  }
  return (await storeIfCurrent(req, rest)) ? undefined : refuse({ code: 'session_ended' })
}

/** The answer that a JSON client gets of a request that the user is asked to approve. */
export function describeApproval({ id, at, details, lines }: RequestedApproval) {
  return { id, authorization_details: details, lines, expiresAt: iso(at + APPROVAL_MS) }
}
