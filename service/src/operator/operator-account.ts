import type { KeyMethod } from 'countersign/protocol'
import { textHash } from '../store/secrets/hash.js'
import { type Queries, queryOne } from '../store/store.js'
import type { Role } from './rights.js'

/** The application of the service whose users are the operators of the console. No application can be created by this name. */
export const CONSOLE_APPLICATION = '_console'

/** A person with an account for the console. */
export interface OperatorAccount {
  /** Their email address, which never changes and names them in the audit log; for one of the provider, its issuer and their subject. */
  readonly email: string
  /** The role that they have. */
  readonly role: Role
  /** Whether they sign in at the identity provider, whose groups say their role, and have neither password nor second factor here. */
  readonly isExternal: boolean
  /** Changes when all sessions must end: with a new password, and when the account is disabled. */
  readonly version: number
  /** Whether an authenticator app is set up. */
  readonly hasApp: boolean
  /** The kinds of keys that they have. */
  readonly keys: readonly KeyMethod[]
}

/** An operator in a list. */
export interface OperatorSummary extends Pick<OperatorAccount, 'email' | 'role' | 'isExternal'> {
  /** `invited` until the link is used, `active` afterwards. */
  readonly state: 'invited' | 'active' | 'disabled'
  /** When the account was created, in milliseconds since 1970, like all times here. */
  readonly createdAt: number
  /** The kinds of second factors that they have. */
  readonly factors: readonly ('app' | KeyMethod)[]
  /** When the link of an open invitation ends; `null` if there is none. */
  readonly invitedUntil: number | null
  /** The email addresses of the operators who are related to this one, and count as one person with them (R137). */
  readonly samePersonAs: readonly string[]
  /** When they last signed in; `null` if never. */
  readonly signedInAt: number | null
}

/** The columns of a row that signing in needs. */
export interface OperatorRow extends Pick<OperatorAccount, 'email' | 'role' | 'version' | 'keys'> {
  readonly password: string | null
  readonly enroll_until: number
  readonly app_enrolled_at: number | null
  readonly issuer: string | null
}

/** The kinds of keys of an operator, for the list of a `SELECT`. */
export const KEYS_COLUMN = `ARRAY(
  SELECT DISTINCT method FROM account_key WHERE application = '${CONSOLE_APPLICATION}' AND account = 'account:' || email
  ORDER BY method) AS keys`

const COLUMNS = `email, role, version, password, enroll_until, app_enrolled_at, issuer, ${KEYS_COLUMN}`

/** The account behind a row. */
export function createOperatorAccount(row: OperatorRow): OperatorAccount {
  const { email, role, version, app_enrolled_at, keys, issuer } = row
  return { email, role, version, hasApp: app_enrolled_at !== null, keys, isExternal: issuer !== null }
}

/** The operator with this email address, unless the account is disabled. */
export async function findOperator(queries: Queries, email: string): Promise<OperatorAccount | undefined> {
  const row = await findOperatorRow(queries, email)
  return row && createOperatorAccount(row)
}

/** The row of the operator with this email address, unless the account is disabled. */
export function findOperatorRow(queries: Queries, email: string): Promise<OperatorRow | undefined> {
  return queryOne<OperatorRow>(
    queries,
    `SELECT ${COLUMNS} FROM operator_account WHERE email = $1 AND disabled_at IS NULL`,
    [canonicalEmail(email)],
  )
}

/** The operator with this invitation, while its link is valid. */
export async function findInvited(queries: Queries, token: string): Promise<OperatorAccount | undefined> {
  const [row] = await queries.query<OperatorRow>(
    `SELECT ${COLUMNS} FROM operator_account WHERE invitation = $1 AND invited_until > $2 AND disabled_at IS NULL`,
    [textHash(token), Date.now()],
  )
  return row && createOperatorAccount(row)
}

/** One address in different case is one operator (R29). Subjects of an identity provider differ in case (OpenID Connect Core 1.0 §2). */
export function canonicalEmail(email: string): string {
  return isExternalName(email) ? email : email.trim().toLowerCase()
}

/** The name of an operator of the identity provider. No email address has it. */
export function externalName(issuer: string, subject: string): string {
  return `${issuer} ${subject}`
}

/** Whether a name belongs to an operator of the identity provider. */
export function isExternalName(name: string): boolean {
  return /^https?:\/\/\S+ ./.test(name)
}
