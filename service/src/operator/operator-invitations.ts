import { randomBytes } from 'node:crypto'
import { parseUser } from 'countersign/protocol'
import { eraseAccount } from '../accounts/erase-account.js'
import { textHash } from '../store/secrets/hash.js'
import { hashPassword } from '../store/secrets/password.js'
import type { Queries } from '../store/store.js'
import { HOUR_MS } from '../time.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { CONSOLE_APPLICATION, canonicalEmail, type OperatorAccount } from './operator-account.js'
import { requireLocal, requireOtherAdmin, unknownOperator } from './operator-accounts.js'
import { relateSameEmail, relateTo, withdrawRequestsOf } from './operator-relations.js'
import { checkRole, type Role } from './rights.js'
import { readAccount, type UserReference } from './users.js'

const INVITATION_MS = 24 * HOUR_MS
/** How long an operator has to set up a second factor after choosing a password. */
const ENROLLMENT_MS = HOUR_MS

/** The allowed lengths of a password, in characters. */
export const PASSWORD_LENGTH = { min: 12, max: 200 } as const

/** Who is invited. */
export interface Invited {
  /** Their email address. */
  readonly email: string
  /** The role that they get. Defaults to `viewer`, or the role that they have. */
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

/** Makes a link that no operator has yet: what is shown of it, and what is stored. */
export function newLink(): { readonly token: string; readonly hash: string } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: textHash(token) }
}

/** Invites an operator. The link is in the result and nowhere else. */
export async function inviteOperator(actor: Actor, invited: Invited): Promise<Invitation> {
  const { token, hash } = newLink()
  return { token, expiresAt: await inviteWithLink(actor, invited, hash) }
}

/** The email address of an invitation, as it is stored. Throws an `OperatorError` when it is none, or the role does not exist. */
export function checkInvited({ email: given, role }: Invited): string {
  const email = canonicalEmail(given)
  if (parseUser(email)?.kind !== 'email') {
    throw new OperatorError(`"${given}" is not an email address: write it like ann@example.com.`)
  }
  if (role !== undefined) checkRole(role)
  return email
}

/** Invites an operator with the link that has this hash; returns when it ends. */
export async function inviteWithLink(actor: Actor, invited: Invited, hash: string): Promise<number> {
  const email = checkInvited(invited)
  const { role, unlessActive = false } = invited
  const now = Date.now()
  await changeWithAudit(actor, async (tx, record) => {
    if (role !== undefined && role !== 'admin') await requireOtherAdmin(tx, email)
    const [row] = await tx.query<{ role: Role }>(
      `INSERT INTO operator_account (email, role, invitation, invited_until, created_at)
       VALUES ($1, coalesce($2, 'viewer'), $3, $4, $5)
       ON CONFLICT (email) DO UPDATE SET role = coalesce($2, operator_account.role),
         invitation = EXCLUDED.invitation, invited_until = EXCLUDED.invited_until, disabled_at = NULL
       WHERE NOT $6 OR operator_account.password IS NULL OR operator_account.disabled_at IS NOT NULL
       RETURNING role`,
      [email, role ?? null, hash, now + INVITATION_MS, now, unlessActive],
    )
    if (!row) throw new OperatorError(`${email} has an account already.`)
    await relateTo(tx, actor, email)
    await relateSameEmail(tx, email)
    record({ action: 'operator.invited', detail: `${email} ${row.role}` })
  })
  return now + INVITATION_MS
}

/** Makes the open link of an invitation void. */
export async function revokeInvitation(actor: Actor, given: string): Promise<void> {
  const email = canonicalEmail(given)
  await changeWithAudit(actor, async (tx, record) => {
    const [row] = await tx.query<{ password: string | null }>(
      `UPDATE operator_account SET invitation = NULL WHERE email = $1 AND invitation IS NOT NULL RETURNING password`,
      [email],
    )
    if (!row) throw new OperatorError(`There is no open invitation of ${email}.`)
    if (row.password === null) {
      await tx.query('DELETE FROM operator_account WHERE email = $1 AND password IS NULL', [email])
      await withdrawRequestsOf(tx, email)
    }
    record({ action: 'operator.invitation_revoked', detail: email })
  })
}

/** How an operator is reset. */
export interface Reset {
  /**
   * Whether the account no longer counts as one person with those who invited or changed it. Give the link to its new holder in
   * person. Only the command line can. Defaults to `false`.
   */
  readonly independent?: boolean | undefined
}

/** Removes the password and the factors of an operator. The link to set new ones is in the result and nowhere else. */
export async function resetOperator(actor: Actor, email: string, reset: Reset = {}): Promise<Invitation> {
  const { token, hash } = newLink()
  return { token, expiresAt: await resetWithLink(actor, email, hash, reset) }
}

/** Resets an operator with the link that has this hash; returns when it ends. */
export async function resetWithLink(
  actor: Actor,
  given: string,
  hash: string,
  { independent = false }: Reset = {},
): Promise<number> {
  const email = canonicalEmail(given)
  requireLocal(email)
  const expiresAt = Date.now() + INVITATION_MS
  await changeWithAudit(actor, async (tx, record) => {
    await requireOtherAdmin(tx, email)
    const [row] = await tx.query(
      `UPDATE operator_account SET password = NULL, app_enrolled_at = NULL, version = version + 1,
         invitation = $2, invited_until = $3,
         holder = CASE WHEN $4 THEN gen_random_uuid()::text ELSE holder END
       WHERE email = $1 AND disabled_at IS NULL RETURNING email`,
      [email, hash, expiresAt, independent],
    )
    if (!row) throw unknownOperator(email)
    if (!independent) await relateTo(tx, actor, email)
    await relateSameEmail(tx, email)
    await withdrawRequestsOf(tx, email)
    await eraseFactors(tx, email)
    record({ action: 'operator.reset', detail: independent ? `${email} independent` : email })
  })
  return expiresAt
}

/** Sets the password of an operator by the link of an invitation or a reset. */
export async function acceptInvitation(
  actor: Actor,
  token: string,
  password: string,
): Promise<OperatorAccount> {
  checkPassword(password, actor.name)
  const hash = await hashPassword(password)
  const now = Date.now()
  return changeWithAudit(actor, async (tx, record) => {
    const [row] = await tx.query<{ email: string; role: Role; version: number }>(
      `UPDATE operator_account SET invitation = NULL, password = $3, version = version + 1,
         enroll_until = $4, app_enrolled_at = NULL
       WHERE invitation = $1 AND invited_until > $2 AND disabled_at IS NULL
       RETURNING email, role, version`,
      [textHash(token), now, hash, now + ENROLLMENT_MS],
    )
    if (!row) {
      throw new OperatorError('This invitation was used already, or has expired: ask for a new one.')
    }
    await withdrawRequestsOf(tx, row.email)
    await eraseFactors(tx, row.email)
    record({ action: 'operator.password_set', detail: row.email })
    return { ...row, hasApp: false, isExternal: false, keys: [] }
  })
}

async function eraseFactors(tx: Queries, email: string): Promise<void> {
  const user: UserReference = { application: CONSOLE_APPLICATION, mode: 'live', user: email, isAccount: true }
  await eraseAccount(tx, { id: CONSOLE_APPLICATION }, readAccount(user))
}

function checkPassword(password: string, email: string): void {
  const { length } = [...password]
  const { min, max } = PASSWORD_LENGTH
  if (length < min || length > max) {
    throw new OperatorError(`A password has ${min} to ${max} characters. A sentence is easy to remember.`)
  }
  const lower = password.toLowerCase()
  const [name = ''] = email.split('@')
  // Most sentences contain a name of one or two letters.
  const hasName = name.length > 2 && lower.includes(name)
  if (new Set(lower).size < 5 || hasName) {
    throw new OperatorError(
      'This password is easy to guess: choose one without your name and with more different characters.',
    )
  }
}
