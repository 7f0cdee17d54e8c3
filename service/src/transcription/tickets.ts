import { randomBytes } from 'node:crypto'
import { textHash } from '../store/secrets/hash.js'
import type { Store } from '../store/store.js'

const LIFETIME_SECONDS = 60

/** Issues a ticket for one stream of an application. The store has only its hash. */
export async function issueTicket(store: Store, application: string) {
  const ticket = randomBytes(32).toString('base64url')
  const row = [textHash(ticket), application, Date.now() + LIFETIME_SECONDS * 1_000]
  await store.query(
    'INSERT INTO stream_ticket (hash, application, expires_at) VALUES ($1, $2, $3::bigint)',
    row,
  )
  return { ticket, expiresInSeconds: LIFETIME_SECONDS }
}

/** Uses a ticket up and returns its application; `undefined` when it is unknown, expired or used. */
export async function redeemTicket(store: Store, ticket: string): Promise<string | undefined> {
  // A single statement, so that only one of any number of concurrent requests, in any number of processes, succeeds.
  const [row] = await store.query<{ application: string }>(
    'DELETE FROM stream_ticket WHERE hash = $1 AND expires_at > $2::bigint RETURNING application',
    [textHash(ticket), Date.now()],
  )
  return row?.application
}
