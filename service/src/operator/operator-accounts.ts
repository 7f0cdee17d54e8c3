import type { KeyMethod } from 'countersign/protocol'
import type { Queries } from '../store/store.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { changeRows } from './change-rows.js'
import {
  CONSOLE_APPLICATION,
  canonicalEmail,
  isExternalName,
  KEYS_COLUMN,
  type OperatorSummary,
} from './operator-account.js'
import { readPersons, relateTo, withdrawRequestsOf } from './operator-relations.js'
import { checkRole, type Role } from './rights.js'

/** Lists the operators. */
export async function listOperators({ store }: Actor): Promise<OperatorSummary[]> {
  const rows = await store.query<
    Omit<OperatorSummary, 'factors' | 'samePersonAs'> & { app: boolean; keys: readonly KeyMethod[] }
  >(
    `SELECT email, role, issuer IS NOT NULL AS "isExternal", app_enrolled_at IS NOT NULL AS app, ${KEYS_COLUMN},
       CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN password IS NOT NULL OR issuer IS NOT NULL THEN 'active'
         ELSE 'invited' END AS state, created_at AS "createdAt", signed_in_at AS "signedInAt",
       CASE WHEN invitation IS NOT NULL AND invited_until > $1 THEN invited_until END AS "invitedUntil"
     FROM operator_account ORDER BY email`,
    [Date.now()],
  )
  const whyOnePerson = await readPersons(store)
  return rows.map(({ app, keys, ...row }) => ({
    ...row,
    factors: app ? ['app', ...keys] : keys,
    samePersonAs: rows.flatMap(({ email }) =>
      email !== row.email && whyOnePerson(row.email, email)?.isRelated ? [email] : [],
    ),
  }))
}

/** Changes the role of an operator. */
export async function changeRole(actor: Actor, email: string, role: Role): Promise<void> {
  checkRole(role)
  requireLocal(email)
  await changeOperator(actor, email, {
    change: 'role = $2',
    values: [role],
    mayEndAdmin: role !== 'admin',
    after: (tx, own) => relateTo(tx, actor, own),
    action: 'operator.role_changed',
    detail: role,
  })
}

/** Disables an operator, and ends their sessions. */
export async function disableOperator(actor: Actor, email: string): Promise<void> {
  await changeOperator(actor, email, {
    change: 'disabled_at = $2, invitation = NULL, version = version + 1',
    values: [Date.now()],
    mayEndAdmin: true,
    after: withdrawRequestsOf,
    action: 'operator.disabled',
  })
}

/** Enables an account of the identity provider that was disabled. */
export async function enableOperator(actor: Actor, name: string): Promise<void> {
  await changeRows(actor, {
    ...{ action: 'operator.enabled', detail: name },
    sql: `UPDATE operator_account SET disabled_at = NULL
      WHERE email = $1 AND issuer IS NOT NULL AND disabled_at IS NOT NULL RETURNING email`,
    values: [canonicalEmail(name)],
    otherwise: `No disabled account of the identity provider is named ${name}; invite others anew.`,
  })
}

/** Ends all sessions of an operator. */
export async function endOperatorSessions(actor: Actor, email: string): Promise<void> {
  await changeOperator(actor, email, {
    change: 'version = version + 1',
    after: withdrawRequestsOf,
    action: 'operator.sessions_ended',
  })
}

interface OperatorChange {
  readonly change: string
  readonly values?: readonly (string | number)[]
  /** Whether an administrator may be none afterwards. Defaults to `false`. */
  readonly mayEndAdmin?: boolean
  /** Its other changes: whom the operator counts as one person with, or what was asked in a session that ends. */
  readonly after: (tx: Queries, email: string) => Promise<void>
  readonly action: string
  readonly detail?: string
}

async function changeOperator(
  actor: Actor,
  given: string,
  { change, values = [], mayEndAdmin = false, after, action, detail = '' }: OperatorChange,
): Promise<void> {
  const email = canonicalEmail(given)
  await changeWithAudit(actor, async (tx, record) => {
    if (mayEndAdmin) await requireOtherAdmin(tx, email)
    const [row] = await tx.query(
      `UPDATE operator_account SET ${change} WHERE email = $1 AND disabled_at IS NULL RETURNING email`,
      [email, ...values],
    )
    if (!row) throw unknownOperator(email)
    await after(tx, email)
    record({ action, detail: `${email} ${detail}`.trim() })
  })
}

/** Throws an `OperatorError` for an operator of the identity provider, which says their role and keeps their factors. */
export function requireLocal(name: string): void {
  if (!isExternalName(name)) return
  throw new OperatorError(`${name} signs in at the identity provider: change their groups or factors there.`)
}

/** The error for an operator who does not exist. */
export function unknownOperator(email: string): OperatorError {
  return new OperatorError(`There is no operator ${email}, or the account is disabled.`)
}

/** Throws an `OperatorError` for the only administrator who can sign in. Locks all administrators: two cannot end each other at once. */
export async function requireOtherAdmin(tx: Queries, email: string): Promise<void> {
  const admins = await tx.query<{ email: string; is_complete: boolean }>(
    `SELECT email, password IS NOT NULL AND (app_enrolled_at IS NOT NULL OR EXISTS (
       SELECT FROM account_key WHERE application = $1 AND account = 'account:' || email)) AS is_complete
     FROM operator_account WHERE role = 'admin' AND disabled_at IS NULL ORDER BY email FOR UPDATE`,
    [CONSOLE_APPLICATION],
  )
  const complete = admins.filter((admin) => admin.is_complete).map((admin) => admin.email)
  if (complete.length === 1 && complete[0] === email) {
    throw new OperatorError(
      `${email} is the only administrator who can sign in: invite another one first, who then signs in.`,
    )
  }
}
