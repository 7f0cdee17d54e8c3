import {
  appSecretIdentity,
  eventEndpointIdentity,
  inboxIdentity,
  jobIdentity,
  outboxIdentity,
  webhookIdentity,
} from '../secrets/seal.js'

/** A column of sealed texts, and how one of them is identified. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The columns that identify a row. */
  readonly key: readonly [string, ...string[]]
  /** The columns of the index by which the rows are read in batches. Defaults to the key. */
  readonly order?: readonly [string, ...string[]]
  /** Which rows have sealed texts, if an index knows. */
  readonly where?: string
  /** The two columns that make up the identity of a sealed text. */
  readonly owner: readonly [string, string]
  identity(first: string, second: string): string[]
}

/** Every column that contains sealed texts. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'app_secret',
    column: 'sealed',
    key: ['application', 'account'],
    owner: ['application', 'account'],
    identity: appSecretIdentity,
  },
  {
    table: 'app_secret',
    column: 'pending',
    key: ['application', 'account'],
    owner: ['application', 'account'],
    identity: appSecretIdentity,
  },
  {
    table: 'outbox',
    column: 'sealed',
    key: ['application', 'id'],
    order: ['due_at', 'application', 'id'],
    where: "state = 'queued'",
    owner: ['application', 'id'],
    identity: outboxIdentity,
  },
  {
    table: 'inbox',
    column: 'sealed',
    key: ['position'],
    owner: ['application', 'recipient'],
    identity: inboxIdentity,
  },
  {
    table: 'transcription_job',
    column: 'sealed',
    key: ['id'],
    owner: ['application', 'id'],
    identity: jobIdentity,
  },
  {
    table: 'application_webhook',
    column: 'sealed',
    key: ['application'],
    owner: ['application', 'application'],
    identity: webhookIdentity,
  },
  {
    table: 'application_webhook',
    column: 'former',
    key: ['application'],
    owner: ['application', 'application'],
    identity: webhookIdentity,
  },
  {
    table: 'event_endpoint',
    column: 'sealed',
    key: ['application', 'id'],
    owner: ['application', 'id'],
    identity: eventEndpointIdentity,
  },
  {
    table: 'event_endpoint',
    column: 'former',
    key: ['application', 'id'],
    owner: ['application', 'id'],
    identity: eventEndpointIdentity,
  },
]
