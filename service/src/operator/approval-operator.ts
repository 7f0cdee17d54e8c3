import type { Actor } from './actor.js'
import {
  type Approval,
  type ApprovalReference,
  approve,
  askApproval,
  listApprovals,
  type NewApproval,
  refuseApproval,
} from './approvals.js'
import type { UserReference } from './user-reference.js'

/**
 * Changes to users' factors that need two operators of the console: one asks, another approves within an hour. They go by the
 * accounts of the console, so `operator(name)` needs the email address of one.
 */
export interface ApprovalOperator {
  /**
   * Asks for a change. Throws an `OperatorError` when the user is unknown, the factor is not one, or this operator has not the role
   * for it.
   */
  ask(user: UserReference, change: NewApproval): Promise<{ readonly id: string }>
  /** Lists the requests that wait for approval, the oldest first, each with the operators who can approve it. */
  list(): Promise<Approval[]>
  /**
   * Approves a request and makes its change, in one transaction. Throws an `OperatorError` when it was decided already or has
   * expired, and when this operator asked for it or cannot approve it.
   */
  approve(request: ApprovalReference): Promise<void>
  /** Refuses a request, or withdraws one of one's own. Throws an `OperatorError` when it was decided already or has expired. */
  refuse(request: ApprovalReference): Promise<void>
}

/** The approvals, for an operator. */
export function approvalOperator(actor: Actor): ApprovalOperator {
  return {
    ask: (user, change) => askApproval(actor, user, change),
    list: () => listApprovals(actor),
    approve: (request) => approve(actor, request),
    refuse: (request) => refuseApproval(actor, request),
  }
}
