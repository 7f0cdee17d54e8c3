import { randomBytes } from 'node:crypto'
import type { DeliveredMethod, Purpose, VerifyType } from 'countersign/protocol'
import type { Application } from '../application.js'
import { type CodeIdentity, deliveredCode } from '../secrets/delivered-code.js'
import type { Keys } from '../secrets/keys.js'
import { one, type Queries } from '../store/store.js'

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
}

const COLUMNS = 'id, account, contact, type, purpose, digits, attempts, sends, resend_at, expires_at'
const LIVING = 'ended_at IS NULL AND attempts < max_attempts AND expires_at > $5'

/** Whose challenge is meant. */
export interface Owner {
  readonly account: string
  /** The contact in its one spelling. */
  readonly user: string
  readonly type: VerifyType
}

/** The code of a challenge. */
export function codeOf(keys: Keys, application: Application, row: ChallengeRow): string {
  const identity: CodeIdentity = { ...row, application: application.id }
  return deliveredCode(keys.codes, identity)
}

/** The living challenge of that id, or without an id the newest, if it belongs to the owner (R38). */
export function findLiving(
  queries: Queries,
  application: Application,
  owner: Owner,
  id: string | undefined,
  now: number,
): Promise<ChallengeRow | undefined> {
  return one<ChallengeRow>(
    queries,
    `SELECT ${COLUMNS} FROM challenge
     WHERE application = $1 AND account = $2 AND contact = $3 AND type = $4 AND ${LIVING}
       AND ($6::text IS NULL OR id = $6)
     ORDER BY created_at DESC LIMIT 1`,
    [application.id, owner.account, owner.user, owner.type, now, id ?? null],
  )
}

/** Begins a challenge and ends the one it replaces: same account, contact, method and purpose (R39). */
export async function beginChallenge(
  tx: Queries,
  application: Application,
  owner: Owner,
  about: { readonly method: DeliveredMethod; readonly purpose: Purpose },
  now: number,
): Promise<ChallengeRow> {
  const { limits } = application
  await tx.query(
    `UPDATE challenge SET ended_at = $7
     WHERE application = $1 AND account = $2 AND contact = $3 AND type = $4 AND method = $5 AND purpose = $6
       AND ended_at IS NULL`,
    [application.id, owner.account, owner.user, owner.type, about.method, about.purpose, now],
  )
  const lifeSeconds = about.method === 'email' ? limits.emailCodeLifeSeconds : limits.codeLifeSeconds
  const row: ChallengeRow = {
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
  await tx.query(
    `INSERT INTO challenge (application, id, account, contact, type, method, purpose, digits, max_attempts,
       sends, resend_at, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      ...[application.id, row.id, row.account, row.contact, row.type, about.method, row.purpose, row.digits],
      ...[limits.maxTries, row.sends, row.resend_at, now, row.expires_at],
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

/** Spends one try, before the code is looked at (R22); `undefined` when none is left. */
export function spendTry(
  tx: Queries,
  application: Application,
  owner: Owner,
  id: string,
  now: number,
): Promise<ChallengeRow | undefined> {
  return one<ChallengeRow>(
    tx,
    `UPDATE challenge SET attempts = attempts + 1
     WHERE application = $1 AND account = $2 AND contact = $3 AND type = $4 AND ${LIVING} AND id = $6
     RETURNING ${COLUMNS}`,
    [application.id, owner.account, owner.user, owner.type, now, id],
  )
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
