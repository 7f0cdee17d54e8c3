import { type Carrier, checkRecipient } from '../delivery/carrier.js'
import type { Channel } from '../delivery/message.js'
import type { Keys } from '../secrets/keys.js'
import { open, seal } from '../secrets/seal.js'
import { inboxIdentity } from '../secrets/seal-identity.js'
import type { Store } from '../store/store.js'

const MAX_MESSAGES = 500

/** A message in the development inbox. */
export interface InboxMessage {
  /** The channel by which it would have been delivered. */
  readonly channel: Channel
  /** The recipient: a mailbox or a phone number. */
  readonly to: string
  /** What the user would read or hear. */
  readonly text: string
  /** The subject of an email; absent on other channels. */
  readonly subject?: string
  /** When it arrived, in ISO 8601 format. */
  readonly at: string
}

/** A carrier that keeps messages for developers to read, instead of sending them. */
export interface Inbox extends Carrier {
  /** At most 500 messages of the application, newest first; only those to one recipient when `to` is given. */
  messages(application: string, filter?: { readonly to?: string | undefined }): Promise<InboxMessage[]>
}

/** An inbox in the service's store, shared by all processes and kept across restarts. */
export function storedInbox(store: Store, keys: Keys): Inbox {
  return {
    name: 'inbox',
    async deliver(queued) {
      checkRecipient(queued)
      const { application, channel, to, text, subject } = queued
      const now = Date.now()
      const at = new Date(now).toISOString()
      const message: InboxMessage = { channel, to, text, ...(channel === 'email' && { subject }), at }
      const sealed = seal(keys, inboxIdentity(application, to), JSON.stringify(message))
      await store.query(
        `WITH arrived AS (INSERT INTO inbox (application, recipient, sealed, arrived_at)
           VALUES ($1, $2, $3, $5) RETURNING position)
         DELETE FROM inbox USING arrived WHERE application = $1 AND inbox.position <= arrived.position - $4::bigint`,
        [application, to, sealed, MAX_MESSAGES, now],
      )
      return {}
    },
    async messages(application, filter) {
      const rows = await store.query<{ recipient: string; sealed: string }>(
        `SELECT recipient, sealed FROM inbox WHERE application = $1 AND ($2::text IS NULL OR recipient = $2)
         ORDER BY position DESC LIMIT $3`,
        [application, filter?.to ?? null, MAX_MESSAGES],
      )
      return rows.map(
        (row) =>
          JSON.parse(open(keys, inboxIdentity(application, row.recipient), row.sealed)) as InboxMessage,
      )
    },
    async close() {},
  }
}
