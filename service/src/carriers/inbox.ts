import { inboxIdentity } from '../secrets/seal-identity.js'
import type { Keys } from '../secrets/keys.js'
import { open, seal } from '../secrets/seal.js'
import type { Store } from '../store/store.js'
import { type Carrier, type Channel, checkRecipient } from '../delivery/message.js'

const KEPT = 500

/** A message as the development inbox shows it. */
export interface InboxMessage {
  readonly channel: Channel
  readonly to: string
  readonly text: string
  /** Email only. */
  readonly subject?: string
  /** When it arrived, ISO 8601. */
  readonly at: string
}

/** Where messages arrive on a developer's machine instead of leaving it. */
export interface Inbox extends Carrier {
  /** The application's latest 500 messages at most, newest first; those of one recipient when `to` is given. */
  messages(application: string, filter?: { readonly to?: string | undefined }): Promise<InboxMessage[]>
}

/** An inbox in the service's own store, so that it is the same for every process and after a restart. */
export function storedInbox(store: Store, keys: Keys): Inbox {
  return {
    name: 'inbox',
    async deliver(letter) {
      checkRecipient(letter)
      const { channel, to, text, subject } = letter
      const now = Date.now()
      const at = new Date(now).toISOString()
      const message: InboxMessage = { channel, to, text, ...(channel === 'email' && { subject }), at }
      await store.query(
        `WITH arrived AS (INSERT INTO inbox (application, recipient, sealed, arrived_at)
           VALUES ($1, $2, $3, $5) RETURNING position)
         DELETE FROM inbox USING arrived WHERE application = $1 AND inbox.position <= arrived.position - $4::bigint`,
        [
          letter.application,
          to,
          seal(keys, inboxIdentity(letter.application, to), JSON.stringify(message)),
          KEPT,
          now,
        ],
      )
      return {}
    },
    async messages(application, filter) {
      const rows = await store.query<{ recipient: string; sealed: string }>(
        `SELECT recipient, sealed FROM inbox WHERE application = $1 AND ($2::text IS NULL OR recipient = $2)
         ORDER BY position DESC LIMIT $3`,
        [application, filter?.to ?? null, KEPT],
      )
      return rows.map(
        (row) =>
          JSON.parse(open(keys, inboxIdentity(application, row.recipient), row.sealed)) as InboxMessage,
      )
    },
    async close() {},
  }
}
