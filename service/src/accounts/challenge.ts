import { randomBytes } from 'node:crypto'
import type { DeliveredMethod, Purpose, VerifyType } from 'countersign/protocol'
import type { Application } from '../application.js'
import { type CodeIdentity, deliveredCode, deliveredCodeMac } from '../secrets/delivered-code.js'
import { allKeys, type Keys, keyById, keyIdOf, withKeyId } from '../secrets/keys.js'
import { statement } from '../store/statement.js'
import { type Queries, queryOne, type Store } from '../store/store.js'
import { type Attempt, type AttemptResult, makeAttempt } from './attempt.js'
import { attemptStatement } from './attempt-statement.js'

/** A challenge that awaits its code. Times in milliseconds since 1970. */
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

/** What a challenge belongs to. */
export interface Owner {
  readonly account: string
  readonly canonicalContact: string
  readonly type: VerifyType
  /** The caller's name for the transaction: a code is only valid in the transaction that requested it (R38). */
  readonly transaction: string | undefined
}

type OwnerParameters = {
  readonly application: string
  readonly account: string
  readonly contact: string
  readonly type: string
  readonly transaction: string
}

function ownerParameters(application: Application, owner: Owner): OwnerParameters {
  const { account, canonicalContact: contact, type, transaction = '' } = owner
  return { application: application.id, account, contact, type, transaction }
}

/** Which challenges of an owner are active: not ended, not expired, and with attempts left. */
const ACTIVE = `application = :application AND account = :account AND contact = :contact AND type = :type
    AND transaction = :transaction AND ended_at IS NULL AND attempts < max_attempts AND expires_at > :now::bigint`

const FIND_ACTIVE = statement<OwnerParameters & { id: string; now: number }>(
  `SELECT id, account, contact, type, purpose, digits, attempts, sends, resend_at, expires_at, code_mac
   FROM challenge WHERE ${ACTIVE} AND id = :id`,
)

/** The code of a challenge. */
export function codeOf(keys: Keys, application: Application, row: ChallengeRow): string {
  const key = keyById(keys, keyIdOf(row.code_mac))
  if (!key) throw new Error('The code of this challenge belongs to another key.')
  return deliveredCode(key.codes, identityOf(application, row))
}

function identityOf(application: Application, row: Omit<ChallengeRow, 'code_mac'>): CodeIdentity {
  return { ...row, application: application.id }
}

/** The active challenge with this id, if it belongs to the owner (R38). */
export function findActiveChallenge(
  queries: Queries,
  application: Application,
  owner: Owner,
  id: string,
  now: number,
): Promise<ChallengeRow | undefined> {
  const { text, values } = FIND_ACTIVE
  return queryOne<ChallengeRow>(queries, text, values({ ...ownerParameters(application, owner), id, now }))
}

/** The parameters that write a new challenge. */
export type NewChallengeParameters = OwnerParameters & {
  readonly method: string
  readonly purpose: string
  readonly id: string
  readonly digits: number
  readonly maxAttempts: number
  readonly sends: number
  readonly resendAt: number
  readonly now: number
  readonly expiresAt: number
  readonly codeMac: string
}

/**
 * Writes a challenge for each row of `source`, in place of the previous one with the same account, contact, method, purpose
 * and transaction (R39). Without a transaction it ends those of every transaction.
 */
export const insertChallenge = (source: string) => ({
  ended: `UPDATE challenge SET ended_at = :now FROM ${source} AS allowed
    WHERE application = :application AND account = :account AND contact = :contact AND type = :type
      AND method = :method AND purpose = :purpose AND :transaction::text = '' AND transaction <> ''
      AND ended_at IS NULL`,
  inserted: `INSERT INTO challenge (application, account, contact, type, method, purpose, transaction, id, digits,
      max_attempts, sends, resend_at, created_at, expires_at, code_mac)
    SELECT :application, :account, :contact, :type, :method, :purpose, :transaction, :id, :digits,
      :maxAttempts, :sends, :resendAt, :now, :expiresAt, :codeMac FROM ${source} AS allowed
    ON CONFLICT (application, account, contact, type, method, purpose, transaction) DO UPDATE SET
      id = EXCLUDED.id, digits = EXCLUDED.digits, attempts = 0, max_attempts = EXCLUDED.max_attempts,
      sends = EXCLUDED.sends, resend_at = EXCLUDED.resend_at, created_at = EXCLUDED.created_at,
      expires_at = EXCLUDED.expires_at, ended_at = NULL, code_mac = EXCLUDED.code_mac`,
})

const { ended, inserted } = insertChallenge('(SELECT 1)')
const INSERT_CHALLENGE = statement<NewChallengeParameters>(`WITH ended AS (${ended}) ${inserted}`)

/** A challenge that is not stored yet, and the parameters that store it. */
export function newChallenge(
  keys: Keys,
  application: Application,
  owner: Owner,
  { method, purpose }: { readonly method: DeliveredMethod; readonly purpose: Purpose },
  now: number,
): { readonly row: ChallengeRow; readonly parameters: NewChallengeParameters } {
  const { limits } = application
  const identified = {
    id: randomBytes(16).toString('base64url'),
    account: owner.account,
    contact: owner.canonicalContact,
    type: owner.type,
    purpose,
    digits: limits.codeDigits,
    attempts: 0,
    sends: 1,
    resend_at: now + limits.resendDelayMs,
    expires_at: now + (method === 'email' ? limits.emailCodeLifetimeMs : limits.codeLifetimeMs),
  }
  const code = deliveredCode(keys.codes, identityOf(application, identified))
  const row: ChallengeRow = { ...identified, code_mac: macOf(keys, application, owner, code) }
  const parameters = {
    ...ownerParameters(application, owner),
    method,
    purpose,
    id: row.id,
    digits: row.digits,
    maxAttempts: limits.attemptsPerChallenge,
    sends: row.sends,
    resendAt: row.resend_at,
    now,
    expiresAt: row.expires_at,
    codeMac: row.code_mac,
  }
  return { row, parameters }
}

/** Begins a challenge in place of the previous one of its owner. */
export async function beginChallenge(
  tx: Queries,
  keys: Keys,
  application: Application,
  owner: Owner,
  request: { readonly method: DeliveredMethod; readonly purpose: Purpose },
  now: number,
): Promise<ChallengeRow> {
  const { row, parameters } = newChallenge(keys, application, owner, request, now)
  await tx.query(INSERT_CHALLENGE.text, INSERT_CHALLENGE.values(parameters))
  return row
}

/** Records that the code was sent again: its lifetime and attempts stay the same, the next delay is longer (R39). */
export async function repeatChallenge(
  tx: Queries,
  application: Application,
  row: ChallengeRow,
  now: number,
): Promise<ChallengeRow> {
  const delayMs = application.limits.resendDelayMs * Math.min(2 ** row.sends, 4)
  const repeated = { ...row, sends: row.sends + 1, resend_at: now + delayMs }
  await tx.query('UPDATE challenge SET sends = $3, resend_at = $4 WHERE application = $1 AND id = $2', [
    application.id,
    row.id,
    repeated.sends,
    repeated.resend_at,
  ])
  return repeated
}

interface CodeParameters extends Omit<OwnerParameters, 'application' | 'account'> {
  readonly macs: readonly string[]
  readonly alwaysValid: boolean
}

const IS_VALID = '(code_mac = ANY (:macs::text[]) OR :alwaysValid::boolean)'

// One step counts the attempt and compares the code, so that no burst is evaluated more often than it is counted
// (R22). SQL may compare MACs: how far two of them agree says nothing about the code (R90).
const evaluation = (id: string) => `evaluated AS (
    UPDATE challenge SET attempts = attempts + 1, ended_at = CASE WHEN ${IS_VALID} THEN :now::bigint END
    FROM gate
    WHERE gate.open AND (NOT gate.disabled OR purpose = 'enrollment') AND ${ACTIVE} AND id = ${id}
    RETURNING ${IS_VALID} AS ok, id AS challenge, purpose = 'enrollment' AS rebound
  )`
const EVALUATE_BY_ID = attemptStatement<CodeParameters & { id: string }>(evaluation(':id'))
const EVALUATE_NEWEST = attemptStatement<CodeParameters>(
  evaluation(`(SELECT id FROM challenge WHERE ${ACTIVE} ORDER BY created_at DESC LIMIT 1)`),
)

/**
 * Makes an attempt with a delivered code, in one statement: for the challenge with this id, or for the newest active
 * one if no id is given, provided that it belongs to the owner (R38).
 */
export function attemptDeliveredCode(
  parts: { readonly store: Store; readonly keys: Keys },
  application: Application,
  owner: Owner,
  typed: {
    readonly code: string
    readonly challenge: string | undefined
    /** The code of test keys that is valid for every active challenge. */
    readonly alwaysValid: boolean
  },
  attempt: Attempt,
  now: number,
): Promise<AttemptResult | undefined> {
  const { store, keys } = parts
  const { contact, type, transaction } = ownerParameters(application, owner)
  const macs = allKeys(keys).map((key) => macOf(key, application, owner, typed.code))
  const own = { contact, type, transaction, macs, alwaysValid: typed.alwaysValid }
  if (typed.challenge === undefined) {
    return makeAttempt(store, EVALUATE_NEWEST, application, attempt, now, own)
  }
  return makeAttempt(store, EVALUATE_BY_ID, application, attempt, now, { ...own, id: typed.challenge })
}

function macOf(keys: Keys, application: Application, owner: Owner, code: string): string {
  const { account, canonicalContact: contact, type } = owner
  return withKeyId(
    keys,
    deliveredCodeMac(keys.codes, { application: application.id, account, contact, type, code }),
  )
}

/** Ends a challenge; `false` when it had ended before (R37). */
export async function endChallenge(
  queries: Queries,
  application: Application,
  id: string,
  now: number,
): Promise<boolean> {
  const row = await queryOne(
    queries,
    'UPDATE challenge SET ended_at = $3 WHERE application = $1 AND id = $2 AND ended_at IS NULL RETURNING id',
    [application.id, id, now],
  )
  return row !== undefined
}
