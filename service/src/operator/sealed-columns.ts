import { appSecretIdentity, inboxIdentity, letterIdentity } from '../secrets/seal-identity.js'

/** A column of sealed texts, and what names one of them. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The primary key, as text; pages go by it. */
  readonly key: readonly [string, ...string[]]
  /** Two columns that the text is sealed for. */
  readonly owner: readonly [string, string]
  identity(first: string, second: string): string[]
}

/** Every column that holds sealed texts. */
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
    identity: letterIdentity,
  },
  {
    table: 'inbox',
    column: 'sealed',
    key: ['position'],
    owner: ['application', 'recipient'],
    identity: inboxIdentity,
  },
]
