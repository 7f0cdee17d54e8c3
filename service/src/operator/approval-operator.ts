import type { Actor } from './actor.js'
import type { ApprovalReference } from './approval-request.js'
import {
  type Approval,
  approve,
  askApproval,
  listApprovals,
  type NewApproval,
  refuseApproval,
} from './approvals.js'
import {
  type AskedOperatorApproval,
  askOperatorApproval,
  type NewOperatorApproval,
} from './operator-approvals.js'
import { hasSecondAdmin } from './operator-relations.js'
import type { UserReference } from './user-reference.js'

/**
 * Changes that need two operators of the console: one asks, another approves within an hour. Operators who count as one person do not
 * approve each other's requests. They go by the accounts of the console, so `operator(name)` needs the email address of one.
 */
export interface ApprovalOperator {
  /**
   * Asks for a change. Throws an `OperatorError` when the user is unknown, the factor is not one, or this operator has not the role
   * for it.
   */
  ask(user: UserReference, change: NewApproval): Promise<{ readonly id: string }>
  /**
   * Asks for a new operator, a new role or a reset. The link becomes valid when another administrator approves it. Throws an
   * `OperatorError` when the operator is unknown, or this one is no administrator.
   */
  askOperatorChange(change: NewOperatorApproval): Promise<AskedOperatorApproval>
  /** Whether there are two administrators who are not one person, so that neither invites operators or gives links or roles alone. */
  hasSecondAdmin(): Promise<boolean>
  /** Lists the requests that wait for approval, the oldest first, each with the operators who can approve it. */
  list(): Promise<Approval[]>
  /**
   * Approves a request and makes its change, in one transaction. Throws an `OperatorError` when it was decided already or has
   * expired, and when this operator asked for it, is one person with the one who asked, or has not the role for it.
   */
  approve(request: ApprovalReference): Promise<void>
  /** Refuses a request, or withdraws one of one's own. Throws an `OperatorError` when it was decided already or has expired. */
  refuse(request: ApprovalReference): Promise<void>
}

/** The approvals, for an operator. */
export function approvalOperator(actor: Actor): ApprovalOperator {
  return {
    ask: (user, change) => askApproval(actor, user, change),
    askOperatorChange: (change) => askOperatorApproval(actor, change),
    hasSecondAdmin: () => hasSecondAdmin(actor.store),
    list: () => listApprovals(actor),
    approve: (request) => approve(actor, request),
    refuse: (request) => refuseApproval(actor, request),
  }
}
