import { randomBytes } from 'node:crypto'
import { type DataReference, getPartition, nameOfPartition } from '../store/partition.js'
import type { Queries } from '../store/store.js'
import { type Actor, OperatorError } from './audited-change.js'
import { CONSOLE_APPLICATION } from './operator-account.js'
import { readPersons, type WhyOnePerson } from './operator-relations.js'
import type { Role } from './rights.js'
import { maskFactor, readFactor } from './users.js'

const CONSENT_MS = 3_600_000
const MAX_OPEN = 50

/** A change to a user that needs two operators. */
export type UserAction = 'disable-factor' | 'remove-key' | 'erase-user'

/** A change to an operator that needs two administrators. */
export type OperatorAction = 'invite-operator' | 'change-role' | 'reset-operator'

/** A change that needs two operators. */
export type ConsentAction = UserAction | OperatorAction

const SUPPORT_ACTIONS: readonly ConsentAction[] = ['disable-factor', 'remove-key']

/** The roles that can ask for a change and consent to it. */
export function listRoles(action: ConsentAction): readonly Role[] {
  return SUPPORT_ACTIONS.includes(action) ? ['support', 'admin'] : ['admin']
}

/** Names a request in commands and forms. */
export interface ConsentReference extends DataReference {
  readonly id: string
}

/** A stored request. */
export interface ConsentRow {
  readonly application: string
  readonly id: string
  /** The account of a user, or the email address of an operator. */
  readonly account: string
  readonly action: ConsentAction
  /** The factor, the id of the key or the role; empty if there is none. */
  readonly target: string
  readonly asked_by: string
  readonly asked_at: number
  readonly expires_at: number
  /** The hash of the link that becomes valid with the consent. */
  readonly invitation: string | null
}

const NAMES = [
  ...(['application', 'id', 'account', 'action', 'target', 'asked_by'] as const),
  ...(['asked_at', 'expires_at', 'invitation'] as const),
]
const COLUMNS = NAMES.map((name) => `request.${name}`).join(', ')

/** Stores a request of the operator who acts; returns its id. */
export async function insertRequest(
  tx: Queries,
  { name }: Actor,
  request: Pick<ConsentRow, 'application' | 'account' | 'action' | 'target' | 'invitation'>,
): Promise<string> {
  const now = Date.now()
  await checkRole(tx, name, request.action)
  const opened = 'SELECT FROM approval_request WHERE asked_by = $1 AND expires_at > $2'
  if ((await tx.query(opened, [name, now])).length >= MAX_OPEN) {
    throw new OperatorError(`${MAX_OPEN} of your requests wait for consent: wait for their decision.`)
  }
  const id = randomBytes(8).toString('hex')
  const row: ConsentRow = { ...request, id, asked_by: name, asked_at: now, expires_at: now + CONSENT_MS }
  await tx.query(
    `INSERT INTO approval_request (${NAMES.join(', ')}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    NAMES.map((column) => row[column]),
  )
  return id
}

/** The requests that wait, the oldest first. */
export function openRequests(queries: Queries): Promise<ConsentRow[]> {
  return queries.query<ConsentRow>(
    `SELECT ${COLUMNS} FROM approval_request AS request WHERE expires_at > $1 ORDER BY asked_at, id LIMIT 500`,
    [Date.now()],
  )
}

/** An operator who can sign in. Operators of the identity provider have no password here. */
const CAN_SIGN_IN = 'disabled_at IS NULL AND (password IS NOT NULL OR issuer IS NOT NULL)'

/** Deletes a request that this operator may consent to: of two at once, one gets it. Throws an `OperatorError`, which must undo the transaction. */
export async function takeConsented(
  tx: Queries,
  request: ConsentReference,
  decider: string,
): Promise<ConsentRow> {
  const key = [getPartition(request), request.id, Date.now()]
  const [row] = await tx.query<ConsentRow>(
    `DELETE FROM approval_request AS request USING operator_account AS asker
     WHERE request.application = $1 AND request.id = $2 AND request.expires_at > $3
       AND asker.email = request.asked_by AND asker.disabled_at IS NULL
       AND (asker.role = 'admin' OR asker.role = 'support' AND request.action = ANY ($5::text[]))
       AND $4 NOT IN (request.account, request.asked_by) AND EXISTS (
         SELECT FROM operator_account WHERE email = $4 AND ${CAN_SIGN_IN}
           AND (role = 'admin' OR role = 'support' AND request.action = ANY ($5::text[])))
     RETURNING ${COLUMNS}`,
    [...key, decider, SUPPORT_ACTIONS],
  )
  if (row) {
    const why = (await readPersons(tx))(row.asked_by, decider)
    if (why) throw cannotConsent(why.text)
    return row
  }
  const [open] = await tx.query<ConsentRow>(
    `SELECT ${COLUMNS} FROM approval_request AS request WHERE application = $1 AND id = $2 AND expires_at > $3`,
    key,
  )
  if (!open) throw createDecidedError()
  if (open.asked_by === decider) {
    throw new OperatorError('You asked for this yourself: another operator has to consent.')
  }
  await checkRole(tx, open.asked_by, open.action)
  if (open.account === decider) throw cannotConsent('it is about your own account.')
  throw cannotConsent(
    `it needs an operator who can sign in and has the role ${listRoles(open.action).join(' or ')}.`,
  )
}

function cannotConsent(reason: string): OperatorError {
  return new OperatorError(`You cannot consent to this: ${reason}`)
}

/** Deletes a request that is refused, or withdrawn by the one who asked. */
export async function takeRefused(
  tx: Queries,
  request: ConsentReference,
  operator: string,
): Promise<ConsentRow> {
  const [row] = await tx.query<ConsentRow>(
    `DELETE FROM approval_request AS request WHERE application = $1 AND id = $2 AND expires_at > $3 RETURNING ${COLUMNS}`,
    [getPartition(request), request.id, Date.now()],
  )
  if (!row) throw createDecidedError()
  if (row.asked_by !== operator) await checkRole(tx, operator, row.action)
  return row
}

function createDecidedError(): OperatorError {
  return new OperatorError(
    'This request was decided already, has expired, or ended with the session that made it.',
  )
}

/** Throws unless the operator has an account that can ask for this, which an administrator may have ended meanwhile. */
async function checkRole(tx: Queries, email: string, action: ConsentAction): Promise<void> {
  const [found] = await tx.query(
    'SELECT FROM operator_account WHERE email = $1 AND disabled_at IS NULL AND role = ANY ($2::text[]) FOR SHARE',
    [email, listRoles(action)],
  )
  if (!found) throw new OperatorError(`${email} cannot ask for this any more, or refuse it.`)
}

/** The email addresses of the operators who can consent to a request. */
export async function listDeciders(
  queries: Queries,
  { action, asked_by, account }: ConsentRow,
  whyOnePerson: WhyOnePerson,
): Promise<string[]> {
  const rows = await queries.query<{ email: string }>(
    `SELECT email FROM operator_account
     WHERE email <> $1 AND role = ANY ($2::text[]) AND ${CAN_SIGN_IN} ORDER BY email`,
    [account, listRoles(action)],
  )
  return rows.map(({ email }) => email).filter((email) => !whyOnePerson(asked_by, email))
}

/** Whether a request is about an operator. */
export function isAboutOperator({ application }: Pick<ConsentRow, 'application'>): boolean {
  return application === CONSOLE_APPLICATION
}

/** The target of a request; a contact is masked. */
export function showTarget({ action, target }: Pick<ConsentRow, 'action' | 'target'>): string {
  return action === 'disable-factor' ? maskFactor(readFactor(target)) : target
}

/** The request, without full contacts of users. */
export function describeAction(row: Pick<ConsentRow, 'action' | 'target'>): string {
  return `${row.action} ${showTarget(row)}`.trim()
}

/** The application of a request in the audit log, and what it says about the request. */
export function auditOf(row: Pick<ConsentRow, 'application' | 'account' | 'action' | 'target' | 'id'>): {
  readonly application: string
  readonly detail: string
} {
  const detail = `${row.id} ${describeAction(row)}`
  if (isAboutOperator(row)) return { application: '', detail: `${detail} of ${row.account}` }
  return { application: nameOfPartition(row.application), detail }
}
