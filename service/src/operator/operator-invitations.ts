import { randomBytes } from 'node:crypto'
import { parseUser } from 'countersign/protocol'
import { eraseAccount } from '../accounts/erase-account.js'
import { hashPassword } from '../secrets/password.js'
import { type Queries, queryOne } from '../store/store.js'
import type { Actor } from './actor.js'
import { auditedChange } from './audited-change.js'
import { requireOtherAdmin } from './last-admin.js'
import {
  CONSOLE_APPLICATION,
  canonicalEmail,
  hashInvitation,
  type OperatorAccount,
} from './operator-account.js'
import { unknownOperator } from './operator-accounts.js'
import { OperatorError } from './operator-error.js'
import { checkRole, type Role } from './role.js'
import { accountOf, type UserReference } from './user-reference.js'

const HOUR_MS = 3_600_000

/** How long the link of an invitation is valid. */
const INVITATION_MS = 24 * HOUR_MS
/** How long an operator has to set up a second factor after choosing a password. */
const ENROLLMENT_MS = HOUR_MS

/** The allowed lengths of a password, in characters. */
export const PASSWORD_LENGTH = { min: 12, max: 200 } as const

/** Who is invited. */
export interface Invited {
  /** Their email address. */
  readonly email: string
  /** What they may do. Defaults to `viewer`, or the role that they have. */
  readonly role?: Role | undefined
  /** Whether an operator who can sign in is refused, instead of getting a new password and second factor. Defaults to `false`. */
  readonly unlessActive?: boolean | undefined
}

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
  { email: given, role, unlessActive = false }: Invited,
): Promise<Invitation> {
  const email = canonicalEmail(given)
  if (parseUser(email)?.kind !== 'email') {
    throw new OperatorError(`"${given}" is not an email address: write it like ann@example.com.`)
  }
  if (role !== undefined) checkRole(role)
  const { invitation, hash, expiresAt } = newInvitation()
  await auditedChange(
    actor,
    async (tx) => {
      if (role !== undefined && role !== 'admin') await requireOtherAdmin(tx, email)
      const row = await queryOne<{ role: Role }>(
        tx,
        `INSERT INTO operator_account (email, role, invitation, invited_until, created_at)
         VALUES ($1, coalesce($2, 'viewer'), $3, $4, $5)
         ON CONFLICT (email) DO UPDATE SET role = coalesce($2, operator_account.role),
           invitation = EXCLUDED.invitation, invited_until = EXCLUDED.invited_until, disabled_at = NULL
         WHERE NOT $6 OR operator_account.password IS NULL OR operator_account.disabled_at IS NOT NULL
         RETURNING role`,
        [email, role ?? null, hash, expiresAt, Date.now(), unlessActive],
      )
      if (!row) throw new OperatorError(`${email} has an account already.`)
      return row.role
    },
    (given) => ({ application: '', action: 'operator.invited', detail: `${email} ${given}` }),
  )
  return invitation
}

/** Makes the link of an invitation void. An operator who never had a password is removed. */
export async function revokeInvitation(actor: Actor, given: string): Promise<void> {
  const email = canonicalEmail(given)
  await auditedChange(
    actor,
    async (tx) => {
      const row = await queryOne<{ password: string | null }>(
        tx,
        `UPDATE operator_account SET invitation = NULL WHERE email = $1 AND invitation IS NOT NULL RETURNING password`,
        [email],
      )
      if (!row) throw new OperatorError(`There is no open invitation of ${email}.`)
      if (row.password === null) {
        await tx.query('DELETE FROM operator_account WHERE email = $1 AND password IS NULL', [email])
      }
    },
    () => ({ application: '', action: 'operator.invitation_revoked', detail: email }),
  )
}

/** Ends an operator's password, second factors and sessions at once, and invites them again. */
export async function resetOperator(actor: Actor, given: string): Promise<Invitation> {
  const email = canonicalEmail(given)
  const { invitation, hash, expiresAt } = newInvitation()
  await auditedChange(
    actor,
    async (tx) => {
      await requireOtherAdmin(tx, email)
      const row = await queryOne(
        tx,
        `UPDATE operator_account SET password = NULL, app_enrolled_at = NULL, version = version + 1,
           invitation = $2, invited_until = $3
         WHERE email = $1 AND disabled_at IS NULL RETURNING email`,
        [email, hash, expiresAt],
      )
      if (!row) throw unknownOperator(email)
      await eraseFactors(tx, email)
    },
    () => ({ application: '', action: 'operator.reset', detail: email }),
  )
  return invitation
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
      if (!row) {
        throw new OperatorError('This invitation was used already, or has expired: ask for a new one.')
      }
      await eraseFactors(tx, row.email)
      return { ...row, hasApp: false, keys: [] }
    },
    ({ email }) => ({ application: '', action: 'operator.password_set', detail: email }),
  )
}

function newInvitation() {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = Date.now() + INVITATION_MS
  return { invitation: { token, expiresAt }, hash: hashInvitation(token), expiresAt }
}

async function eraseFactors(tx: Queries, email: string): Promise<void> {
  const user: UserReference = { application: CONSOLE_APPLICATION, mode: 'live', user: email, isAccount: true }
  await eraseAccount(tx, { id: CONSOLE_APPLICATION }, accountOf(user))
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
