import { randomBytes } from 'node:crypto'
import {
  type DeliveredMethod,
  type KeyMethod,
  keyChallenge,
  type Purpose,
  type RequestOf,
  type VerifyType,
} from 'countersign/protocol'
import type { Partition } from '../store/partition.js'
import { computeDeliveredCodeMac, deriveDeliveredCode } from '../store/secrets/codes.js'
import { textHash } from '../store/secrets/hash.js'
import { addKeyId, type Keys, keyById, keyIdOf } from '../store/secrets/keys.js'
import { createStatement, type Queries } from '../store/store.js'
import type { Application } from './application.js'

/** A challenge that awaits its code. Times in milliseconds since 1970. */
export interface ChallengeRow {
  readonly id: string
  readonly account: string
  readonly contact: string
  readonly type: VerifyType
  readonly method: DeliveredMethod
  readonly purpose: Purpose
  readonly transaction: string
  readonly digits: number
  readonly max_attempts: number
  readonly sends: number
  readonly resend_at: number
  readonly created_at: number
  readonly expires_at: number
  /** A keyed hash of the code; it begins with the id of the key that the code is derived from. */
  readonly code_mac: string
}

/** The owner of a challenge. */
export interface Owner {
  readonly account: string
  readonly canonicalContact: string
  readonly type: VerifyType
  /** The caller's name for the transaction: a code is only valid in the transaction that requested it (R38). */
  readonly transaction: string | undefined
}

/** An owner as parameters of a statement. */
export type OwnerParameters = Readonly<
  Record<'application' | 'account' | 'contact' | 'type' | 'transaction', string>
>

/** The parameters that name an owner. */
export function ownerParameters(application: Application, owner: Owner): OwnerParameters {
  const { account, canonicalContact: contact, type, transaction = '' } = owner
  return { application: application.id, account, contact, type, transaction }
}

/** Which challenges are active at a time: not ended, not expired, and with attempts left. */
export const isActive = (now: string, challenge = 'challenge'): string => `${challenge}.ended_at IS NULL
    AND ${challenge}.attempts < ${challenge}.max_attempts AND ${challenge}.expires_at > ${now}`

/** Which challenges of an account belong to a contact, type and transaction in the row `owner`. */
export const matchOwnerSql = (
  owner: string,
  challenge = 'challenge',
): string => `${challenge}.contact = ${owner}.contact
    AND ${challenge}.type = ${owner}.type AND ${challenge}.transaction = ${owner}.transaction`

const COLUMNS =
  'account, contact, type, method, purpose, transaction, id, digits, max_attempts, sends, resend_at, created_at, expires_at, code_mac'

const FIND_ACTIVE = createStatement<OwnerParameters & { id: string; now: number }>(
  `SELECT ${COLUMNS} FROM challenge WHERE application = :application AND account = :account AND id = :id
     AND contact = :contact AND type = :type AND transaction = :transaction AND ${isActive(':now::bigint')}`,
)

/** The code of a challenge. */
export function deriveCode(keys: Keys, application: Application, row: ChallengeRow): string {
  const key = keyById(keys, keyIdOf(row.code_mac))
  if (!key) throw new Error('The code of this challenge belongs to another key.')
  return deriveDeliveredCode(key.codes, { ...row, application: application.id })
}

/** The active challenge with this id, if it belongs to the owner (R38). */
export function findActiveChallenge(
  queries: Queries,
  application: Application,
  owner: Owner,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<ChallengeRow | undefined> {
  return FIND_ACTIVE.first(queries, { ...ownerParameters(application, owner), id, now })
}

/** A new challenge, which is not stored yet. */
export function newChallenge(
  keys: Keys,
  application: Application,
  owner: Owner,
  request: { readonly method: DeliveredMethod; readonly purpose: Purpose; readonly now: number },
): ChallengeRow {
  const { limits } = application
  const { method, purpose, now } = request
  const row = {
    id: randomBytes(16).toString('base64url'),
    account: owner.account,
    contact: owner.canonicalContact,
    type: owner.type,
    method,
    purpose,
    transaction: owner.transaction ?? '',
    digits: limits.codeDigits,
    max_attempts: limits.attemptsPerChallenge,
    sends: 1,
    resend_at: now + limits.resendDelayMs,
    created_at: now,
    expires_at: now + (method === 'email' ? limits.emailCodeLifetimeMs : limits.codeLifetimeMs),
  }
  const code = deriveDeliveredCode(keys.codes, { ...row, application: application.id })
  return { ...row, code_mac: computeMac(keys, application, owner, code) }
}

/** The challenge after its code was sent again: its lifetime and attempts stay the same, the next delay is longer (R39). */
export function repeatChallenge({ limits }: Application, row: ChallengeRow, now: number): ChallengeRow {
  const delayMs = limits.resendDelayMs * Math.min(2 ** row.sends, 4)
  return { ...row, sends: row.sends + 1, resend_at: now + delayMs }
}

/** The columns of a `ChallengeRow`, for `json_to_recordset`. */
export const CHALLENGE_FIELDS = `account text, contact text, type text, method text, purpose text, transaction text, id text,
    digits integer, max_attempts integer, sends integer, resend_at bigint, created_at bigint, expires_at bigint, code_mac text`

/** Of the challenges in `source (nr, now, …)`, of accounts in `held`, those to send again, locked: neither ended nor sent again meanwhile. */
export const selectRepeatedSql = (source: string): string => `SELECT wanted.nr, known.resend_at
    FROM ${source} AS wanted JOIN held USING (account), LATERAL (
      SELECT resend_at FROM challenge
      WHERE application = :application AND challenge.account = held.account AND challenge.id = wanted.id
        AND ${matchOwnerSql('wanted')} AND ${isActive('wanted.now')} AND challenge.sends = wanted.sends - 1
      FOR UPDATE
    ) AS known
    WHERE wanted.sends > 1`

// `OFFSET 0` has PostgreSQL look earlier challenges up by an index, for each row. A statement that was planned while the table had
// few rows could otherwise read it as a whole and join it, for as long as the plan is kept.
/**
 * Writes the challenges in `source`: a new one in place of the previous one with the same account, contact, method,
 * purpose and transaction (R39), or one whose code is sent again. A new one without a transaction ends those of every
 * transaction; they are written by the same INSERT, since a statement must not change a table twice.
 */
export const writeChallenges = (
  source: string,
): string => `INSERT INTO challenge AS known (application, ${COLUMNS}, ended_at)
    SELECT :application, ${COLUMNS}, NULL::bigint FROM ${source}
    UNION ALL
    SELECT :application, former.*, written.now FROM ${source} AS written, LATERAL (
      SELECT ${COLUMNS} FROM challenge WHERE application = :application AND account = written.account
        AND contact = written.contact AND type = written.type AND method = written.method
        AND purpose = written.purpose AND transaction <> '' AND ended_at IS NULL
      OFFSET 0
    ) AS former
    WHERE written.transaction = '' AND written.sends = 1
    ON CONFLICT (application, account, contact, type, method, purpose, transaction) DO UPDATE SET
      id = EXCLUDED.id, digits = EXCLUDED.digits, max_attempts = EXCLUDED.max_attempts, sends = EXCLUDED.sends,
      attempts = CASE WHEN known.id = EXCLUDED.id THEN known.attempts ELSE 0 END, resend_at = EXCLUDED.resend_at,
      created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at, ended_at = EXCLUDED.ended_at,
      code_mac = EXCLUDED.code_mac`

/** The keyed hash by which a code is compared. */
export function computeMac(keys: Keys, application: Application, owner: Owner, code: string): string {
  const { account, canonicalContact: contact, type } = owner
  return addKeyId(
    keys,
    computeDeliveredCodeMac(keys.codes, { application: application.id, account, contact, type, code }),
  )
}

/** Ends the challenge whose code is in a message that was given up, unless it was sent at another time, too, and that message came or may still come. */
export async function endUndelivered(
  queries: Queries,
  message: { readonly application: string; readonly id: string },
  now: number,
): Promise<void> {
  await queries.query(
    `UPDATE challenge SET ended_at = $3 FROM outbox AS lost
     WHERE lost.application = $1 AND lost.id = $2 AND challenge.application = lost.application
       AND challenge.account = lost.account AND challenge.id = lost.challenge AND challenge.ended_at IS NULL
       AND NOT EXISTS (SELECT FROM outbox AS other WHERE other.application = lost.application
         AND other.challenge = lost.challenge AND other.created_at <> lost.created_at
         AND other.state IN ('sent', 'delivered', 'queued'))`,
    [message.application, message.id, now],
  )
}

/** How long a challenge is valid. */
export const KEY_CHALLENGE_MS = 5 * 60_000

const CHALLENGE_BYTES = 32
// More ceremonies than a user has open at a time. Options can be requested without limit, and must not fill the store.
const MAX_PER_ACCOUNT = 50

/** The transaction that a challenge is bound to, besides application and account. */
export interface KeyCeremony {
  readonly account: string
  readonly method: KeyMethod
  /** A `conditional registration` needs no user presence and no user verification. */
  readonly purpose: RequestOf<'authenticate'>['purpose'] | 'registration' | 'conditional registration'
  /** The caller's id for what the challenge is used for, if it has one. */
  readonly transaction: string | undefined
}

type Parameters = Readonly<
  Record<'application' | 'account' | 'hash' | 'method' | 'purpose' | 'transaction', string>
> & { readonly now: number }

const OWN = 'application = :application AND account = :account'

const STORE = createStatement<Parameters & { readonly expiresAt: number }>(`WITH surplus AS (
    SELECT hash FROM key_challenge WHERE ${OWN} ORDER BY expires_at DESC OFFSET ${MAX_PER_ACCOUNT - 1}
  ), known AS (INSERT INTO account (application, account) VALUES (:application, :account) ON CONFLICT DO NOTHING
  ), pruned AS (
    DELETE FROM key_challenge WHERE ${OWN} AND (expires_at <= :now::bigint OR hash IN (SELECT hash FROM surplus))
  )
  INSERT INTO key_challenge (application, account, hash, method, purpose, transaction, expires_at)
  VALUES (:application, :account, :hash, :method, :purpose, :transaction, :expiresAt::bigint)`)

// One statement, so that only one of all requests with a challenge is evaluated.
const CONSUME = createStatement<Parameters>(`DELETE FROM key_challenge
  WHERE ${OWN} AND hash = :hash AND method = :method AND purpose = :purpose AND transaction = :transaction
    AND expires_at > :now::bigint
  RETURNING hash`)

/** Creates a challenge for a ceremony, in base64url, and stores its hash. An unknown account is created, so that its failures count. */
export async function createKeyChallenge(
  queries: Queries,
  application: Partition,
  ceremony: KeyCeremony,
  now: number,
  digest?: string,
): Promise<string> {
  const challenge = keyChallenge(randomBytes(CHALLENGE_BYTES), digest)
  const values = { ...parameters(application, ceremony, challenge, now), expiresAt: now + KEY_CHALLENGE_MS }
  await STORE.rows(queries, values)
  return challenge
}

/** Consumes a challenge. `false` if it is unknown, used, expired, or belongs to another ceremony. */
export async function consumeKeyChallenge(
  queries: Queries,
  application: Partition,
  ceremony: KeyCeremony,
  { challenge, now }: { readonly challenge: string; readonly now: number },
): Promise<boolean> {
  return (await CONSUME.first(queries, parameters(application, ceremony, challenge, now))) !== undefined
}

function parameters(
  { id }: Partition,
  { account, method, purpose, transaction = '' }: KeyCeremony,
  challenge: string,
  now: number,
): Parameters {
  return { application: id, account, hash: textHash(challenge), method, purpose, transaction, now }
}
