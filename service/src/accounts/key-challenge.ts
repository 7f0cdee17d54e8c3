import { createHash, randomBytes } from 'node:crypto'
import type { KeyMethod, keyTypes } from 'countersign/protocol'
import type { Application } from '../application.js'
import { statement } from '../store/statement.js'
import { type Queries, queryOne } from '../store/store.js'

/** How long a challenge is valid. */
export const KEY_CHALLENGE_MS = 5 * 60_000

const CHALLENGE_BYTES = 32
// More ceremonies than a user has open at a time. Options can be requested without limit, and must not fill the store.
const MAX_PER_ACCOUNT = 50

/** What a challenge is bound to, besides application and account. */
export interface KeyCeremony {
  readonly account: string
  readonly method: KeyMethod
  readonly purpose: keyTypes.KeyPurpose | 'registration'
  /** The caller's id for what the challenge is used for. */
  readonly transaction: string
}

type Parameters = {
  readonly application: string
  readonly account: string
  readonly hash: string
  readonly method: string
  readonly purpose: string
  readonly transaction: string
  readonly now: number
}

const OWN = 'application = :application AND account = :account'

const STORE = statement<Parameters & { readonly expiresAt: number }>(`WITH surplus AS (
    SELECT hash FROM key_challenge WHERE ${OWN} ORDER BY expires_at DESC OFFSET ${MAX_PER_ACCOUNT - 1}
  ), known AS (INSERT INTO account (application, account) VALUES (:application, :account) ON CONFLICT DO NOTHING
  ), pruned AS (
    DELETE FROM key_challenge WHERE ${OWN} AND (expires_at <= :now::bigint OR hash IN (SELECT hash FROM surplus))
  )
  INSERT INTO key_challenge (application, account, hash, method, purpose, transaction, expires_at)
  VALUES (:application, :account, :hash, :method, :purpose, :transaction, :expiresAt::bigint)`)

// One statement, so that of all requests with one challenge one is evaluated.
const CONSUME = statement<Parameters>(`DELETE FROM key_challenge
  WHERE ${OWN} AND hash = :hash AND method = :method AND purpose = :purpose AND transaction = :transaction
    AND expires_at > :now::bigint
  RETURNING hash`)

/**
 * Creates a challenge for a ceremony, in base64url. Only its hash is stored. An unknown account is created, so that its failures
 * can be counted.
 */
export async function createKeyChallenge(
  queries: Queries,
  application: Pick<Application, 'id'>,
  ceremony: KeyCeremony,
  now: number,
): Promise<string> {
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
  const values = { ...parameters(application, ceremony, challenge, now), expiresAt: now + KEY_CHALLENGE_MS }
  await queries.query(STORE.text, STORE.values(values))
  return challenge
}

/** Consumes a challenge. `false` if it is unknown, used, expired, or belongs to another ceremony. */
export async function consumeKeyChallenge(
  queries: Queries,
  application: Pick<Application, 'id'>,
  ceremony: KeyCeremony,
  { challenge, now }: { readonly challenge: string; readonly now: number },
): Promise<boolean> {
  const row = await queryOne(
    queries,
    CONSUME.text,
    CONSUME.values(parameters(application, ceremony, challenge, now)),
  )
  return row !== undefined
}

function parameters(
  { id }: Pick<Application, 'id'>,
  { account, method, purpose, transaction }: KeyCeremony,
  challenge: string,
  now: number,
): Parameters {
  const hash = createHash('sha256').update(challenge).digest('base64url')
  return { application: id, account, hash, method, purpose, transaction, now }
}
