import { type ApprovalRow, auditOf, insertRequest, type OperatorAction } from './approval-request.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'
import { CONSOLE_APPLICATION, findOperator } from './operator-account.js'
import { changeRole, unknownOperator } from './operator-accounts.js'
import { checkInvited, inviteWithLink, newLink, resetWithLink } from './operator-invitations.js'
import { checkRole, type Role } from './rights.js'

/** A change to an operator that an administrator asks for. */
export interface NewOperatorApproval {
  readonly action: OperatorAction
  /** The email address of the operator. */
  readonly email: string
  /** The new role. Defaults, for an invitation, to the one that they have, or `viewer`. */
  readonly role?: Role | undefined
}

/** A request for a change to an operator. */
export interface AskedOperatorApproval {
  readonly id: string
  /** The last part of the link, which is valid from the approval on; absent for a change of a role. It is stored as a hash only. */
  readonly token?: string
}

/** Asks for a change to an operator, which another administrator has to approve within an hour. */
export async function askOperatorApproval(
  actor: Actor,
  { action, email: given, role }: NewOperatorApproval,
): Promise<AskedOperatorApproval> {
  const email = checkInvited({ email: given, role })
  if (email === actor.name) throw new OperatorError('Another administrator must change your own account.')
  if (action === 'change-role') checkRole(role ?? '')
  const link = action === 'change-role' ? undefined : newLink()
  const request = {
    ...{ application: CONSOLE_APPLICATION, account: email, action, target: role ?? '' },
    invitation: link?.hash ?? null,
  }
  const id = await auditedChange(
    actor,
    async (tx) => {
      if (action !== 'invite-operator' && !(await findOperator(tx, email))) throw unknownOperator(email)
      return insertRequest(tx, actor, request)
    },
    (asked) => ({ ...auditOf({ ...request, id: asked }), action: 'approval.asked' }),
  )
  return { id, ...(link && { token: link.token }) }
}

/** Makes a change to an operator that was approved. */
export async function makeOperatorChange(
  actor: Actor,
  { account: email, action, target, invitation }: ApprovalRow,
): Promise<void> {
  const role = target === '' ? undefined : target
  if (role !== undefined) checkRole(role)
  if (action === 'change-role' && role) return changeRole(actor, email, role)
  if (invitation === null) throw new OperatorError('This request has no link: ask for a new one.')
  if (action === 'reset-operator') await resetWithLink(actor, email, invitation)
  else await inviteWithLink(actor, { email, role, unlessActive: true }, invitation)
}
