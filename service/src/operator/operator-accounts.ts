import type { KeyMethod } from 'countersign/protocol'
import { queryOne } from '../store/store.js'
import type { Actor } from './actor.js'
import { auditedChange } from './audited-change.js'
import { requireOtherAdmin } from './last-admin.js'
import { canonicalEmail, KEYS_COLUMN, type OperatorSummary } from './operator-account.js'
import { OperatorError } from './operator-error.js'
import { groupsOf, relateTo, withdrawRequestsOf } from './operator-relations.js'
import { checkRole, type Role } from './role.js'

/** All operators, by email address. */
export async function listOperators({ store }: Actor): Promise<OperatorSummary[]> {
  const rows = await store.query<{
    email: string
    role: Role
    active: boolean
    app_enrolled_at: number | null
    keys: readonly KeyMethod[]
    created_at: number
    invited_until: number | null
    signed_in_at: number | null
    disabled_at: number | null
    holder: string
  }>(
    `SELECT email, holder, role, password IS NOT NULL AS active, app_enrolled_at, ${KEYS_COLUMN},
       created_at, signed_in_at, disabled_at,
       CASE WHEN invitation IS NOT NULL AND invited_until > $1 THEN invited_until END AS invited_until
     FROM operator_account ORDER BY email`,
    [Date.now()],
  )
  const groups = await groupsOf(
    store,
    rows.map(({ holder }) => holder),
  )
  return rows.map((row) => ({
    email: row.email,
    role: row.role,
    state: row.disabled_at !== null ? 'disabled' : row.active ? 'active' : 'invited',
    factors: row.app_enrolled_at === null ? row.keys : ['app', ...row.keys],
    createdAt: row.created_at,
    invitedUntil: row.invited_until,
    samePersonAs: rows
      .filter((other) => other !== row && groups.get(other.holder) === groups.get(row.holder))
      .map(({ email }) => email),
    signedInAt: row.signed_in_at,
  }))
}

/** Gives an operator another role, with effect on their next request. */
export async function changeRole(actor: Actor, email: string, role: Role): Promise<void> {
  checkRole(role)
  await changeOperator(actor, email, {
    change: 'role = $2',
    values: [role],
    relates: true,
    mayEndAdmin: role !== 'admin',
    action: 'operator.role_changed',
    detail: role,
  })
}

/** Disables an operator's account and ends their sessions. A new invitation enables it again. */
export async function disableOperator(actor: Actor, email: string): Promise<void> {
  await changeOperator(actor, email, {
    change: 'disabled_at = $2, invitation = NULL, version = version + 1',
    values: [Date.now()],
    endsSessions: true,
    mayEndAdmin: true,
    action: 'operator.disabled',
    detail: '',
  })
}

/** Ends all sessions of an operator, who can sign in again. */
export async function endOperatorSessions(actor: Actor, email: string): Promise<void> {
  await changeOperator(actor, email, {
    change: 'version = version + 1',
    values: [],
    endsSessions: true,
    mayEndAdmin: false,
    action: 'operator.sessions_ended',
    detail: '',
  })
}

async function changeOperator(
  actor: Actor,
  given: string,
  to: {
    readonly change: string
    readonly values: (string | number)[]
    /** Whether the operator gets something from the one who acts, so that the two count as one person. Defaults to `false`. */
    readonly relates?: boolean
    /** Whether it ends sessions, and with them what was asked in them. Defaults to `false`. */
    readonly endsSessions?: boolean
    /** Whether an administrator may be none afterwards. */
    readonly mayEndAdmin: boolean
    readonly action: string
    readonly detail: string
  },
): Promise<void> {
  const email = canonicalEmail(given)
  await auditedChange(
    actor,
    async (tx) => {
      if (to.mayEndAdmin) await requireOtherAdmin(tx, email)
      const row = await queryOne(
        tx,
        `UPDATE operator_account SET ${to.change} WHERE email = $1 AND disabled_at IS NULL RETURNING email`,
        [email, ...to.values],
      )
      if (!row) throw unknownOperator(email)
      if (to.relates) await relateTo(tx, actor, email)
      if (to.endsSessions) await withdrawRequestsOf(tx, email)
    },
    () => ({ application: '', action: to.action, detail: `${email} ${to.detail}`.trim() }),
  )
}

/** The error for an operator who does not exist. */
export function unknownOperator(email: string): OperatorError {
  return new OperatorError(`There is no operator ${email}, or the account is disabled.`)
}
