import { IS_ON_FIRST_ATTEMPT } from '../messages/delivery/outbox-table.js'
import { contactHashes, createStoredReference, type Keys, keyIdOf } from '../store/secrets/keys.js'
import {
  appSecretIdentity,
  eventEndpointIdentity,
  inboxIdentity,
  jobIdentity,
  outboxIdentity,
  readSealingKey,
  reseal,
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

const moveSealed = (identity: (first: string, second: string) => string[]): Moves => ({
  keyIdOf: readSealingKey,
  moved: (keys, text, first, second) => reseal(keys, identity(first, second), text),
})

const hashOf = (hash: (keys: Keys, first: string, second: string) => string | null): Moves => ({
  keyIdOf,
  moved: (keys, text, first, second) => hash(keys, first, second) ?? text,
})

// Where the columns that identify a row are also what its texts belong to.
const OF_ACCOUNT = { key: ['application', 'account'], owner: ['application', 'account'] } as const
const OF_ID = { key: ['application', 'id'], owner: ['application', 'id'] } as const
const OF_APPLICATION = { key: ['application'], owner: ['application', 'application'] } as const

/** Every column of this kind. */
export const KEYED_COLUMNS: readonly KeyedColumn[] = [
  { table: 'account', column: 'reference', ...OF_ACCOUNT, ...hashOf(createStoredReference) },
  {
    ...{ table: 'account', column: 'email_hash', ...OF_ACCOUNT, owner: ['application', 'proven_email'] },
    ...hashOf((keys, _application, email) => contactHashes(keys, { kind: 'email', email }).email),
  },
  {
    ...{ table: 'account', column: 'phone_hash', ...OF_ACCOUNT, owner: ['application', 'proven_phone'] },
    ...hashOf((keys, _application, phone) => contactHashes(keys, { kind: 'phone', phone }).phone),
  },
  { table: 'app_secret', column: 'sealed', ...OF_ACCOUNT, ...moveSealed(appSecretIdentity) },
  { table: 'app_secret', column: 'pending', ...OF_ACCOUNT, ...moveSealed(appSecretIdentity) },
  {
    ...{ table: 'outbox', column: 'sealed', ...OF_ID, ...moveSealed(outboxIdentity) },
    order: ['due_at', 'application', 'id'],
    where: 'due_at IS NOT NULL',
  },
  {
    ...{ table: 'outbox', column: 'sealed', ...OF_ID, ...moveSealed(outboxIdentity) },
    order: ['created_at', 'application', 'id'],
    where: IS_ON_FIRST_ATTEMPT,
  },
  {
    ...{ table: 'inbox', column: 'sealed', key: ['position'], owner: ['application', 'recipient'] },
    ...moveSealed(inboxIdentity),
  },
  { table: 'transcription_job', column: 'sealed', ...OF_ID, key: ['id'], ...moveSealed(jobIdentity) },
  { table: 'application_webhook', column: 'sealed', ...OF_APPLICATION, ...moveSealed(webhookIdentity) },
  { table: 'application_webhook', column: 'former', ...OF_APPLICATION, ...moveSealed(webhookIdentity) },
  { table: 'event_endpoint', column: 'sealed', ...OF_ID, ...moveSealed(eventEndpointIdentity) },
  { table: 'event_endpoint', column: 'former', ...OF_ID, ...moveSealed(eventEndpointIdentity) },
]
