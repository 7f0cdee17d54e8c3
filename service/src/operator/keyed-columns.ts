import { IS_ON_FIRST_ATTEMPT } from '../messages/delivery/outbox-table.js'
import { contactHashes, type Keys, keyIdOf, storedReference } from '../store/secrets/keys.js'
import {
  appSecretIdentity,
  eventEndpointIdentity,
  inboxIdentity,
  jobIdentity,
  outboxIdentity,
  reseal,
  sealingKeyOf,
  webhookIdentity,
} from '../store/secrets/seal.js'

/** A column of texts that depend on a key and can be moved to another one: sealed texts, and hashes of what the row contains. */
export interface KeyedColumn {
  readonly table: string
  readonly column: string
  /** The columns that identify a row. */
  readonly key: readonly [string, ...string[]]
  /** The columns of the index by which the rows are read in batches. Defaults to the key. */
  readonly order?: readonly [string, ...string[]]
  /** Which rows have such texts, if an index knows. */
  readonly where?: string
  /** The two columns that a text belongs to, or is a hash of. */
  readonly owner: readonly [string, string]
  /** The id of the key that a text depends on. */
  keyIdOf(text: string): string
  /** The text under the current key. */
  moved(keys: Keys, text: string, first: string, second: string): string
}

type Moves = Pick<KeyedColumn, 'keyIdOf' | 'moved'>

const sealedFor = (identity: (first: string, second: string) => string[]): Moves => ({
  keyIdOf: sealingKeyOf,
  moved: (keys, text, first, second) => reseal(keys, identity(first, second), text),
})

const hashOf = (hash: (keys: Keys, first: string, second: string) => string | null): Moves => ({
  keyIdOf,
  moved: (keys, text, first, second) => hash(keys, first, second) ?? text,
})

/** Every column of this kind. */
export const KEYED_COLUMNS: readonly KeyedColumn[] = [
  {
    table: 'account',
    column: 'reference',
    key: ['application', 'account'],
    owner: ['application', 'account'],
    ...hashOf(storedReference),
  },
  {
    table: 'account',
    column: 'email_hash',
    key: ['application', 'account'],
    owner: ['application', 'proven_email'],
    ...hashOf((keys, _application, email) => contactHashes(keys, { kind: 'email', email }).email),
  },
  {
    table: 'account',
    column: 'phone_hash',
    key: ['application', 'account'],
    owner: ['application', 'proven_phone'],
    ...hashOf((keys, _application, phone) => contactHashes(keys, { kind: 'phone', phone }).phone),
  },
  {
    table: 'app_secret',
    column: 'sealed',
    key: ['application', 'account'],
    owner: ['application', 'account'],
    ...sealedFor(appSecretIdentity),
  },
  {
    table: 'app_secret',
    column: 'pending',
    key: ['application', 'account'],
    owner: ['application', 'account'],
    ...sealedFor(appSecretIdentity),
  },
  {
    table: 'outbox',
    column: 'sealed',
    key: ['application', 'id'],
    order: ['due_at', 'application', 'id'],
    where: 'due_at IS NOT NULL',
    owner: ['application', 'id'],
    ...sealedFor(outboxIdentity),
  },
  {
    table: 'outbox',
    column: 'sealed',
    key: ['application', 'id'],
    order: ['created_at', 'application', 'id'],
    where: IS_ON_FIRST_ATTEMPT,
    owner: ['application', 'id'],
    ...sealedFor(outboxIdentity),
  },
  {
    table: 'inbox',
    column: 'sealed',
    key: ['position'],
    owner: ['application', 'recipient'],
    ...sealedFor(inboxIdentity),
  },
  {
    table: 'transcription_job',
    column: 'sealed',
    key: ['id'],
    owner: ['application', 'id'],
    ...sealedFor(jobIdentity),
  },
  {
    table: 'application_webhook',
    column: 'sealed',
    key: ['application'],
    owner: ['application', 'application'],
    ...sealedFor(webhookIdentity),
  },
  {
    table: 'application_webhook',
    column: 'former',
    key: ['application'],
    owner: ['application', 'application'],
    ...sealedFor(webhookIdentity),
  },
  {
    table: 'event_endpoint',
    column: 'sealed',
    key: ['application', 'id'],
    owner: ['application', 'id'],
    ...sealedFor(eventEndpointIdentity),
  },
  {
    table: 'event_endpoint',
    column: 'former',
    key: ['application', 'id'],
    owner: ['application', 'id'],
    ...sealedFor(eventEndpointIdentity),
  },
]
