import { createStatement } from '../store/store.js'
import { listDestinations, type OfAccount } from './account.js'

/** How many rows an erasure deleted. */
export interface Erasure {
  /** 1 if the account existed. */
  readonly accounts: number
  readonly factors: number
  /** Secrets of an authenticator app, sets of backup codes, and backup codes. */
  readonly secrets: number
  readonly keys: number
  readonly challenges: number
  /** Messages and their delivery states, also those in the development inbox. */
  readonly messages: number
  readonly counters: number
}

type Parameters = {
  readonly application: string
  readonly account: string
  readonly destinations: readonly string[]
}

const OWN_COUNTERS = `application = :application AND (scope = 'account' AND key = :account
    OR scope = 'destination' AND key = ANY (:destinations::text[]))`

// In the order of every send, so that no two of them wait for each other.
const LOCK_COUNTERS = createStatement<Parameters>(
  `SELECT scope, key FROM budget WHERE ${OWN_COUNTERS} ORDER BY scope, key FOR UPDATE`,
)

const OWN = 'application = :application AND account = :account'

const ERASE =
  createStatement<Parameters>(`WITH counters AS (DELETE FROM budget WHERE ${OWN_COUNTERS} RETURNING 1),
  challenges AS (DELETE FROM challenge WHERE ${OWN} RETURNING 1),
  messages AS (DELETE FROM outbox WHERE ${OWN} RETURNING 1),
  inbox_messages AS (
    DELETE FROM inbox WHERE application = :application AND lower(recipient) = ANY (:destinations::text[])
    RETURNING 1),
  backup_codes AS (DELETE FROM backup_code WHERE ${OWN} RETURNING 1),
  backup_sets AS (DELETE FROM backup_set WHERE ${OWN} RETURNING 1),
  app_secrets AS (DELETE FROM app_secret WHERE ${OWN} RETURNING 1),
  keys AS (DELETE FROM account_key WHERE ${OWN} RETURNING 1),
  key_users AS (DELETE FROM key_user WHERE ${OWN} RETURNING 1),
  key_challenges AS (DELETE FROM key_challenge WHERE ${OWN} RETURNING 1),
  complaints AS (
    DELETE FROM mail_complaint WHERE application = :application AND email = ANY (:destinations::text[])),
  approvals AS (DELETE FROM approval_request WHERE ${OWN}),
  events AS (DELETE FROM event_delivery WHERE ${OWN}),
  factors AS (DELETE FROM factor WHERE ${OWN} RETURNING 1),
  accounts AS (DELETE FROM account WHERE ${OWN} RETURNING 1)
  SELECT (SELECT count(*) FROM accounts)::integer AS accounts,
    (SELECT count(*) FROM factors)::integer AS factors,
    ((SELECT count(*) FROM app_secrets) + (SELECT count(*) FROM backup_sets)
      + (SELECT count(*) FROM backup_codes))::integer AS secrets,
    (SELECT count(*) FROM keys)::integer AS keys,
    ((SELECT count(*) FROM challenges) + (SELECT count(*) FROM key_challenges))::integer AS challenges,
    ((SELECT count(*) FROM messages) + (SELECT count(*) FROM inbox_messages))::integer AS messages,
    (SELECT count(*) FROM counters)::integer AS counters`)

/** Deletes everything about an account (R104): verifications and sends are complete before, or begin anew. `undefined` if there is nothing. */
export const eraseAccount: OfAccount<Erasure | undefined> = async (tx, application, account) => {
  const key = [application.id, account]
  const [existed] = await tx.query(
    'SELECT FROM account WHERE application = $1 AND account = $2 FOR UPDATE',
    key,
  )
  // Also locks an account that does not exist, which a send might create at this moment.
  await tx.query(
    `INSERT INTO account (application, account) VALUES ($1, $2)
     ON CONFLICT (application, account) DO UPDATE SET account = EXCLUDED.account`,
    key,
  )
  const destinations = await listDestinations(tx, application, account)
  const own = { application: application.id, account, destinations }
  await LOCK_COUNTERS.rows(tx, own)
  const erased = await ERASE.first<Erasure & Record<string, number>>(tx, own)
  if (!erased) throw new Error('The store returned no row for an erasure.')
  const { accounts, ...others } = erased
  return existed || Object.values(others).some((count) => count > 0) ? { accounts, ...others } : undefined
}
