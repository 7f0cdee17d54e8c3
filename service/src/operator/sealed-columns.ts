import { appSecretIdentity, inboxIdentity, outboxIdentity } from '../secrets/seal-identity.js'

/** A column of sealed texts, and how one of them is identified. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The columns of the primary key, in the order of pagination. */
  readonly key: readonly [string, ...string[]]
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
]
