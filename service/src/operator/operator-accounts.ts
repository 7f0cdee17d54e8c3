import { randomBytes } from 'node:crypto'
import { parseUser } from 'countersign/protocol'
import { eraseAccount } from '../accounts/erase-account.js'
import { hashPassword } from '../secrets/password.js'
import { type Queries, queryOne } from '../store/store.js'
import type { Actor } from './actor.js'
import { auditedChange } from './audited-change.js'
import {
  CONSOLE_APPLICATION,
  canonicalEmail,
  hashInvitation,
  type OperatorAccount,
  type OperatorSummary,
} from './operator-account.js'
import { OperatorError } from './operator-error.js'
import { ROLES, type Role } from './role.js'
import { accountOf, type UserReference } from './user-reference.js'

const HOUR_MS = 3_600_000

/** How long the link of an invitation is valid. */
export const INVITATION_MS = 24 * HOUR_MS
/** How long an operator has to set up a second factor after choosing a password. */
const ENROLLMENT_MS = HOUR_MS

/** The allowed lengths of a password, in characters. */
export const PASSWORD_LENGTH = { min: 12, max: 200 } as const

/** An invitation. `token` is returned this once and stored only as a hash. */
export interface Invitation {
  /** The last part of the link's path. */
  readonly token: string
  /** When the link ends, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Invites an operator to the console, or, if there is one already, lets them choose a new password and set up a new second factor. */
export async function inviteOperator(
  actor: Actor,
  { email: given, role }: { readonly email: string; readonly role?: Role | undefined },
): Promise<Invitation> {
  const email = canonicalEmail(given)
  if (parseUser(email)?.kind !== 'email') {
    throw new OperatorError(`"${given}" is not an email address: write it like ann@example.com.`)
  }
  if (role !== undefined && !ROLES.includes(role)) {
    throw new OperatorError(`"${role}" is not a role: use ${ROLES.join(', ')}.`)
  }
  const token = randomBytes(32).toString('base64url')
  const now = Date.now()
  const expiresAt = now + INVITATION_MS
  await auditedChange(
    actor,
    async (tx) => {
      const row = await queryOne<{ role: Role }>(
        tx,
        `INSERT INTO operator_account (email, role, invitation, invited_until, created_at)
         VALUES ($1, coalesce($2, 'viewer'), $3, $4, $5)
         ON CONFLICT (email) DO UPDATE SET role = coalesce($2, operator_account.role),
           invitation = EXCLUDED.invitation, invited_until = EXCLUDED.invited_until, disabled_at = NULL
         RETURNING role`,
        [email, role ?? null, hashInvitation(token), expiresAt, now],
      )
      return row?.role
    },
    (given) => ({ application: '', action: 'operator.invited', detail: `${email} ${given}` }),
  )
  return { token, expiresAt }
}

/**
 * Accepts an invitation once: sets the password, and ends all sessions and second factors that the operator had. They must
 * set up a new one within an hour.
 */
export async function acceptInvitation(
  actor: Actor,
  token: string,
  password: string,
): Promise<OperatorAccount> {
  checkPassword(password, actor.name)
  const hash = await hashPassword(password)
  const now = Date.now()
  return auditedChange(
    actor,
    async (tx) => {
      const row = await queryOne<{ email: string; role: Role; version: number }>(
        tx,
        `UPDATE operator_account SET invitation = NULL, password = $3, version = version + 1,
           enroll_until = $4, app_enrolled_at = NULL
         WHERE invitation = $1 AND invited_until > $2 AND disabled_at IS NULL
         RETURNING email, role, version`,
        [hashInvitation(token), now, hash, now + ENROLLMENT_MS],
      )
      if (!row)
        throw new OperatorError('This invitation was used already, or has expired: ask for a new one.')
      await eraseAccount(tx, { id: CONSOLE_APPLICATION }, accountOf(consoleUser(row.email)))
      return { ...row, hasApp: false, keys: [] }
    },
    ({ email }) => ({ application: '', action: 'operator.password_set', detail: email }),
  )
}

/** The operator as a user of the service. */
function consoleUser(email: string): UserReference {
  return { application: CONSOLE_APPLICATION, mode: 'live', user: email, isAccount: true }
}

/** What is wrong with a password is an `OperatorError`. */
function checkPassword(password: string, email: string): void {
  const { length } = [...password]
  const { min, max } = PASSWORD_LENGTH
  if (length < min || length > max) {
    throw new OperatorError(`A password has ${min} to ${max} characters. A sentence is easy to remember.`)
  }
  const parts = new Set([...password.toLowerCase()])
  if (parts.size < 5 || password.toLowerCase().includes(email.split('@')[0] ?? email)) {
    throw new OperatorError(
      'This password is easy to guess: choose one without your name and with more different characters.',
    )
  }
}

/** All operators, by email address. */
export async function listOperators({ store }: Actor): Promise<OperatorSummary[]> {
  const rows = await store.query<{
    email: string
    role: Role
    active: boolean
    created_at: number
    signed_in_at: number | null
    disabled_at: number | null
  }>(
    `SELECT email, role, password IS NOT NULL AS active, created_at, signed_in_at, disabled_at
     FROM operator_account ORDER BY email`,
  )
  return rows.map((row) => ({
    email: row.email,
    role: row.role,
    state: row.disabled_at !== null ? 'disabled' : row.active ? 'active' : 'invited',
    createdAt: row.created_at,
    signedInAt: row.signed_in_at,
  }))
}

/** Gives an operator another role, with effect on their next request. */
export async function changeRole(actor: Actor, email: string, role: Role): Promise<void> {
  if (!ROLES.includes(role)) throw new OperatorError(`"${role}" is not a role: use ${ROLES.join(', ')}.`)
  await changeOperator(actor, email, {
    change: 'role = $2',
    values: [role],
    action: 'operator.role_changed',
    detail: role,
  })
}

/** Disables an operator's account and ends their sessions. A new invitation enables it again. */
export async function disableOperator(actor: Actor, email: string): Promise<void> {
  await changeOperator(actor, email, {
    change: 'disabled_at = $2, invitation = NULL, version = version + 1',
    values: [Date.now()],
    action: 'operator.disabled',
    detail: '',
  })
}

async function changeOperator(
  actor: Actor,
  given: string,
  to: {
    readonly change: string
    readonly values: (string | number)[]
    readonly action: string
    readonly detail: string
  },
): Promise<void> {
  const email = canonicalEmail(given)
  await auditedChange(
    actor,
    async (tx: Queries) => {
      const row = await queryOne(
        tx,
        `UPDATE operator_account SET ${to.change} WHERE email = $1 AND disabled_at IS NULL RETURNING email`,
        [email, ...to.values],
      )
      if (!row) throw new OperatorError(`There is no operator ${email}, or the account is disabled.`)
    },
    () => ({ application: '', action: to.action, detail: `${email} ${to.detail}`.trim() }),
  )
}
