import { randomBytes } from 'node:crypto'
import { isTestPartition, nameOfPartition, partitionOf } from '../application.js'
import { accountReference } from '../secrets/account-reference.js'
import { type Queries, queryOne, type Store } from '../store/store.js'
import type { Actor } from './actor.js'
import { mustExist } from './applications.js'
import { auditedChange } from './audited-change.js'
import { OperatorError } from './operator-error.js'
import type { Role } from './role.js'
import { removeUserKey, unknownKey } from './user-keys.js'
import { accountOf, maskedUser, type UserReference, unknownUser } from './user-reference.js'
import { eraseUser } from './user-rights.js'
import { disableFactor, factorOf, maskedFactor } from './users.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long a request can be approved. */
const APPROVAL_MS = HOUR_MS
/** An account that the asker invited or changed within this time cannot approve: it could be the asker's own second account. */
const OWN_ACCOUNTS_MS = 7 * DAY_MS
const MAX_OPEN = 50

/** A change that needs two operators. */
export type ApprovalAction = 'disable-factor' | 'remove-key' | 'erase-user'

/** The roles that can ask for a change and approve it. */
const ROLES: Readonly<Record<ApprovalAction, readonly Role[]>> = {
  'disable-factor': ['support', 'admin'],
  'remove-key': ['support', 'admin'],
  'erase-user': ['admin'],
}

/** A change that an operator asks for. */
export interface NewApproval {
  readonly action: ApprovalAction
  /** The factor as for `disableFactor`, or the id of the key; empty for an erasure. */
  readonly target: string
}

/** Names a request in commands and forms. */
export interface ApprovalReference {
  readonly application: string
  readonly mode: UserReference['mode']
  readonly id: string
}

/** A change that waits for a second operator. Times in milliseconds since 1970. */
export interface Approval extends ApprovalReference {
  readonly action: ApprovalAction
  /** The account, masked if it is a contact. */
  readonly user: string
  /** The factor or key; a contact is masked. */
  readonly target: string
  readonly askedBy: string
  readonly askedAt: number
  readonly expiresAt: number
  /** The email addresses of the operators who can approve it now. */
  readonly approvers: readonly string[]
}

interface Row {
  readonly application: string
  readonly id: string
  readonly account: string
  readonly action: ApprovalAction
  readonly target: string
  readonly asked_by: string
  readonly asked_at: number
  readonly expires_at: number
}

const COLUMNS = 'application, id, account, action, target, asked_by, asked_at, expires_at'

/** Asks for a change to a user's factors, which another operator has to approve within an hour. */
export async function askApproval(
  actor: Actor,
  user: UserReference,
  { action, target }: NewApproval,
): Promise<{ readonly id: string }> {
  if (action === 'disable-factor') factorOf(target)
  const partition = partitionOf(user.application, user.mode)
  const account = accountOf(user)
  const id = randomBytes(8).toString('hex')
  const now = Date.now()
  const reference = accountReference(actor.keys(), { id: partition }, account)
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, user.application)
      await checkRole(tx, actor.name, action)
      const known = 'SELECT FROM account WHERE application = $1 AND account = $2'
      if (!(await queryOne(tx, known, [partition, account]))) throw unknownUser(user)
      if (action === 'remove-key') {
        const key = 'SELECT FROM account_key WHERE application = $1 AND account = $2 AND id = $3'
        if (!(await queryOne(tx, key, [partition, account, target]))) throw unknownKey(user)
      }
      const open = await queryOne<{ count: number }>(
        tx,
        'SELECT count(*)::integer AS count FROM approval_request WHERE asked_by = $1 AND expires_at > $2',
        [actor.name, now],
      )
      if ((open?.count ?? 0) >= MAX_OPEN) {
        throw new OperatorError(`${MAX_OPEN} of your requests wait for approval: wait for their decision.`)
      }
      await tx.query(`INSERT INTO approval_request (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, [
        partition,
        id,
        account,
        action,
        target,
        actor.name,
        now,
        now + APPROVAL_MS,
      ])
    },
    () => ({
      application: user.application,
      action: 'approval.asked',
      detail: `${id} ${described(action, target)} of account ${reference}`,
    }),
  )
  return { id }
}

/** The requests that wait for approval, the oldest first. */
export async function listApprovals({ store }: Actor): Promise<Approval[]> {
  const now = Date.now()
  const rows = await store.query<Row>(
    `SELECT ${COLUMNS} FROM approval_request WHERE expires_at > $1 ORDER BY asked_at, id LIMIT 500`,
    [now],
  )
  return Promise.all(
    rows.map(async (row) => {
      const user = userOf(row)
      return {
        application: user.application,
        mode: user.mode,
        id: row.id,
        action: row.action,
        user: maskedUser(user),
        target: shownTarget(row),
        askedBy: row.asked_by,
        askedAt: row.asked_at,
        expiresAt: row.expires_at,
        approvers: await approversOf(store, row, now),
      }
    }),
  )
}

/** Approves a request and makes its change, in one transaction, once. Nobody approves a request of their own. */
export async function approve(actor: Actor, reference: ApprovalReference): Promise<void> {
  const now = Date.now()
  await auditedChange(
    actor,
    async (tx) => {
      const row = await takeRequest(tx, reference, now)
      if (row.asked_by === actor.name) {
        throw new OperatorError('You asked for this yourself: another operator has to approve it.')
      }
      await checkRole(tx, row.asked_by, row.action)
      if (!(await approversOf(tx, row, now)).includes(actor.name)) {
        throw new OperatorError(
          `You cannot approve this: it needs an operator with the role ${ROLES[row.action].join(' or ')} ` +
            'whose account was neither invited nor changed by the one who asks, in the last seven days.',
        )
      }
      // The change is part of this transaction: it is made if, and only if, the request is used up.
      const store: Store = { ...actor.store, query: tx.query.bind(tx), transaction: (work) => work(tx) }
      await makeChange({ ...actor, store }, row)
      return row
    },
    ({ application, id, action, target, asked_by }) => ({
      application: nameOfPartition(application),
      action: 'approval.given',
      detail: `${id} ${described(action, target)}, asked by ${asked_by}`,
    }),
  )
}

/** Refuses a request, or withdraws one of one's own. */
export async function refuseApproval(actor: Actor, reference: ApprovalReference): Promise<void> {
  await auditedChange(
    actor,
    (tx) => takeRequest(tx, reference, Date.now()),
    ({ application, id, action, target, asked_by }) => ({
      application: nameOfPartition(application),
      action: asked_by === actor.name ? 'approval.withdrawn' : 'approval.refused',
      detail: `${id} ${described(action, target)}, asked by ${asked_by}`,
    }),
  )
}

/** Deletes a request: of two operators at once, one gets it. */
async function takeRequest(
  tx: Queries,
  { application, mode, id }: ApprovalReference,
  now: number,
): Promise<Row> {
  const row = await queryOne<Row>(
    tx,
    `DELETE FROM approval_request WHERE application = $1 AND id = $2 AND expires_at > $3 RETURNING ${COLUMNS}`,
    [partitionOf(application, mode), id, now],
  )
  if (!row) throw new OperatorError('This request was decided already, or has expired.')
  return row
}

async function makeChange(actor: Actor, row: Row): Promise<unknown> {
  const user = userOf(row)
  if (row.action === 'disable-factor') return disableFactor(actor, user, row.target)
  return row.action === 'remove-key' ? removeUserKey(actor, user, row.target) : eraseUser(actor, user)
}

/** Throws unless the operator has an account that can ask for this, which an administrator may have ended meanwhile. */
async function checkRole(tx: Queries, email: string, action: ApprovalAction): Promise<void> {
  const found = await queryOne(
    tx,
    'SELECT FROM operator_account WHERE email = $1 AND disabled_at IS NULL AND role = ANY ($2::text[]) FOR SHARE',
    [email, ROLES[action]],
  )
  if (!found) throw new OperatorError(`${email} cannot ask for this any more.`)
}

/** The operators who can approve a request. */
async function approversOf(queries: Queries, { action, asked_by }: Row, now: number): Promise<string[]> {
  const rows = await queries.query<{ email: string }>(
    `SELECT email FROM operator_account
     WHERE email <> $1 AND role = ANY ($2::text[]) AND disabled_at IS NULL AND password IS NOT NULL
       AND NOT EXISTS (
         SELECT FROM audit WHERE who = $1 AND application = '' AND at > $3 AND starts_with(action, 'operator.')
           AND (detail = email OR starts_with(detail, email || ' ')))
     ORDER BY email`,
    [asked_by, ROLES[action], now - OWN_ACCOUNTS_MS],
  )
  return rows.map(({ email }) => email)
}

function userOf({ application, account }: Pick<Row, 'application' | 'account'>): UserReference {
  return {
    application: nameOfPartition(application),
    mode: isTestPartition(application) ? 'test' : 'live',
    user: account.slice(account.indexOf(':') + 1),
    isAccount: account.startsWith('account:'),
  }
}

function shownTarget({ action, target }: Pick<Row, 'action' | 'target'>): string {
  return action === 'disable-factor' ? maskedFactor(factorOf(target)) : target
}

/** What is asked for, without full contacts. */
function described(action: ApprovalAction, target: string): string {
  return `${action} ${shownTarget({ action, target })}`.trim()
}
