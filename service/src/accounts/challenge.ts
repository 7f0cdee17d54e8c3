import { randomBytes } from 'node:crypto'
import type { DeliveredMethod, Purpose, VerifyType } from 'countersign/protocol'
import type { Application } from '../application.js'
import { type CodeIdentity, deliveredCode, deliveredCodeMac } from '../secrets/delivered-code.js'
import { allKeys, type Keys, keyById, keyIdOf, withKeyId } from '../secrets/keys.js'
import { one, type Queries, type Store } from '../store/store.js'
import { type Attempt, type Attempted, attempt, attemptStatement, FIRST_PARAMETER } from './attempt.js'

/** One transaction that waits for its code. Times in milliseconds since 1970. */
export interface ChallengeRow {
  readonly id: string
  readonly account: string
  readonly contact: string
  readonly type: VerifyType
  readonly purpose: Purpose
  readonly digits: number
  readonly attempts: number
  readonly sends: number
  readonly resend_at: number
  readonly expires_at: number
  /** A keyed hash of the code; it begins with the id of the key that the code is derived from. */
  readonly code_mac: string
}

const COLUMNS =
  'id, account, contact, type, purpose, digits, attempts, sends, resend_at, expires_at, code_mac'

/** Whose challenge is meant. */
export interface Owner {
  readonly account: string
  /** The contact in its one spelling. */
  readonly user: string
  readonly type: VerifyType
  /** The caller's name of what the code is for; a code counts for the transaction it was asked in (R38). */
  readonly transaction: string | undefined
}

/** The code of a challenge. */
export function codeOf(keys: Keys, application: Application, row: ChallengeRow): string {
  const key = keyById(keys, keyIdOf(row.code_mac))
  if (!key) throw new Error('The code of this challenge belongs to another key.')
  return deliveredCode(key.codes, identityOf(application, row))
}

function identityOf(application: Application, row: Omit<ChallengeRow, 'code_mac'>): CodeIdentity {
  return { ...row, application: application.id }
}

/** The living challenge of that id, if it belongs to the owner (R38). */
export function findLiving(
  queries: Queries,
  application: Application,
  owner: Owner,
  id: string,
  now: number,
): Promise<ChallengeRow | undefined> {
  return one<ChallengeRow>(
    queries,
    `SELECT ${COLUMNS} FROM challenge
     WHERE application = $1 AND account = $2 AND contact = $3 AND type = $4 AND transaction = $5 AND id = $6
       AND ended_at IS NULL AND attempts < max_attempts AND expires_at > $7`,
    [application.id, owner.account, owner.user, owner.type, owner.transaction ?? '', id, now],
  )
}

/**
 * Begins a challenge in the place of the one before it: same account, contact, method, purpose and transaction
 * (R39). Without a transaction those of every transaction end.
 */
export async function beginChallenge(
  tx: Queries,
  keys: Keys,
  application: Application,
  owner: Owner,
  about: { readonly method: DeliveredMethod; readonly purpose: Purpose },
  now: number,
): Promise<ChallengeRow> {
  const { limits } = application
  const lifeSeconds = about.method === 'email' ? limits.emailCodeLifeSeconds : limits.codeLifeSeconds
  const unnamed = {
    id: randomBytes(16).toString('base64url'),
    account: owner.account,
    contact: owner.user,
    type: owner.type,
    purpose: about.purpose,
    digits: limits.codeDigits,
    attempts: 0,
    sends: 1,
    resend_at: now + limits.resendSeconds * 1000,
    expires_at: now + lifeSeconds * 1000,
  }
  const code = deliveredCode(keys.codes, identityOf(application, unnamed))
  const row: ChallengeRow = { ...unnamed, code_mac: macOf(keys, application, owner, code) }
  await tx.query(
    `WITH ended AS (
       UPDATE challenge SET ended_at = $13 WHERE application = $1 AND account = $2 AND contact = $3 AND type = $4
         AND method = $5 AND purpose = $6 AND $7::text = '' AND transaction <> '' AND ended_at IS NULL
     )
     INSERT INTO challenge (application, account, contact, type, method, purpose, transaction, id, digits,
       max_attempts, sends, resend_at, created_at, expires_at, code_mac)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     ON CONFLICT (application, account, contact, type, method, purpose, transaction) DO UPDATE SET
       id = EXCLUDED.id, digits = EXCLUDED.digits, attempts = 0, max_attempts = EXCLUDED.max_attempts,
       sends = EXCLUDED.sends, resend_at = EXCLUDED.resend_at, created_at = EXCLUDED.created_at,
       expires_at = EXCLUDED.expires_at, ended_at = NULL, code_mac = EXCLUDED.code_mac`,
    [
      ...[application.id, row.account, row.contact, row.type, about.method, row.purpose],
      ...[owner.transaction ?? '', row.id, row.digits, limits.maxTries, row.sends, row.resend_at, now],
      ...[row.expires_at, row.code_mac],
    ],
  )
  return row
}

/** Notes that the code was sent once more: neither life nor tries change, the next wait is longer (R39). */
export async function repeatChallenge(
  tx: Queries,
  application: Application,
  row: ChallengeRow,
  now: number,
): Promise<ChallengeRow> {
  const waitMs = application.limits.resendSeconds * 1000 * Math.min(2 ** row.sends, 4)
  const repeated = { ...row, sends: row.sends + 1, resend_at: now + waitMs }
  await tx.query('UPDATE challenge SET sends = $3, resend_at = $4 WHERE application = $1 AND id = $2', [
    application.id,
    row.id,
    repeated.sends,
    repeated.resend_at,
  ])
  return repeated
}

const parameter = (index: number) => `$${FIRST_PARAMETER + index}`
const [MAC, ALWAYS, CONTACT, TYPE, TRANSACTION, ID] = [0, 1, 2, 3, 4, 5].map(parameter)

const RIGHT = `(code_mac = ANY (${MAC}::text[]) OR ${ALWAYS}::boolean)`

const LIVING = `application = $1 AND account = $2 AND contact = ${CONTACT} AND type = ${TYPE}
    AND transaction = ${TRANSACTION} AND ended_at IS NULL AND attempts < max_attempts AND expires_at > $4::bigint`

// The try is counted and the code compared in one step, so that no burst is evaluated more often than it is
// counted (R22). A MAC may be compared by SQL: how far two of them agree tells nothing about the code (R90).
const evaluation = (id: string) => `tried AS (
    UPDATE challenge SET attempts = attempts + 1,
      ended_at = CASE WHEN ${RIGHT} THEN $4::bigint END
    FROM gate
    WHERE gate.open AND (NOT gate.disabled OR purpose = 'enrolment') AND ${LIVING} AND id = ${id}
    RETURNING ${RIGHT} AS ok, id AS challenge, purpose = 'enrolment' AS rebound
  )`
const BY_ID = attemptStatement(evaluation(`${ID}`))
const NEWEST = attemptStatement(
  evaluation(`(SELECT id FROM challenge WHERE ${LIVING} ORDER BY created_at DESC LIMIT 1)`),
)

/**
 * Makes an attempt with a delivered code, in one statement: at the challenge of that id, or without one at the
 * newest living one, if it belongs to the owner (R38).
 */
export function attemptDelivered(
  store: Store,
  keys: Keys,
  application: Application,
  owner: Owner,
  typed: {
    readonly code: string
    readonly challenge: string | undefined
    /** It is a test key's code that is right for every living challenge. */
    readonly alwaysRight: boolean
  },
  attempted: Attempt,
  now: number,
): Promise<Attempted | undefined> {
  const { code, challenge, alwaysRight } = typed
  return attempt(store, challenge === undefined ? NEWEST : BY_ID, application, attempted, now, [
    allKeys(keys).map((key) => macOf(key, application, owner, code)),
    alwaysRight,
    ...[owner.user, owner.type, owner.transaction ?? ''],
    ...(challenge === undefined ? [] : [challenge]),
  ])
}

function macOf(keys: Keys, application: Application, owner: Owner, code: string): string {
  const of = { application: application.id, contact: owner.user, ...owner, code }
  return withKeyId(keys, deliveredCodeMac(keys.codes, of))
}

/** Ends a challenge; `false` when it had already ended (R37). */
export async function endChallenge(
  queries: Queries,
  application: Application,
  id: string,
  now: number,
): Promise<boolean> {
  const row = await one(
    queries,
    'UPDATE challenge SET ended_at = $3 WHERE application = $1 AND id = $2 AND ended_at IS NULL RETURNING id',
    [application.id, id, now],
  )
  return row !== undefined
}
