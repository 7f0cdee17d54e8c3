import { deliverableContact, formatUser, parseUser } from 'countersign/protocol'
import type { Keys } from '../../store/secrets/keys.js'
import { inboxIdentity, open, seal } from '../../store/secrets/seal.js'
import type { Store } from '../../store/store.js'
import { type Carrier, checkRecipient } from '../delivery/carrier.js'
import { CHANNELS, type Channel } from '../message.js'
import type { CarrierKind } from './carrier-kind.js'

const MAX_MESSAGES = 500

/** A message in the development inbox. */
export interface InboxMessage {
  /** The channel by which it would have been delivered. */
  readonly channel: Channel
  /** The recipient: a mailbox or a phone number. */
  readonly to: string
  /** The text that the user would read or hear. */
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

/** The development inbox, for every channel. It uses no settings of the application, since it sends nothing. */
export const inbox: CarrierKind<object> = {
  schemes: [],
  form: 'inbox',
  channels: CHANNELS,
  parameters: [],
  senders: [],
  repeats: { token: 'the id of the message', drops: 'no' },
  parse: () => ({}),
  build: (_settings, parts) => parts.inbox,
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
      const [arrived] = await store.query<{ position: number }>(
        'INSERT INTO inbox (application, recipient, sealed, arrived_at) VALUES ($1, $2, $3, $4) RETURNING position',
        [application, to, sealed, now],
      )
      const last = (arrived?.position ?? 0) - MAX_MESSAGES
      await store.query('DELETE FROM inbox WHERE application = $1 AND position <= $2', [application, last])
      return {}
    },
    async messages(application, filter) {
      const contact = filter?.to === undefined ? undefined : parseUser(filter.to)
      const recipient = contact ? formatUser(deliverableContact(contact)) : (filter?.to ?? null)
      const rows = await store.query<{ recipient: string; sealed: string }>(
        // The inbox keeps no more than these.
        `SELECT recipient, sealed FROM inbox WHERE application = $1 AND recipient = coalesce($2, recipient)
         ORDER BY position DESC LIMIT $3`,
        [application, recipient, MAX_MESSAGES],
      )
      return rows.map(
        (row) =>
          JSON.parse(open(keys, inboxIdentity(application, row.recipient), row.sealed)) as InboxMessage,
      )
    },
  }
}
