import { randomBytes } from 'node:crypto'
import { KEY_TYPE, type Key, type KeyMethod } from 'countersign/protocol'
import type { Partition } from '../store/partition.js'
import type { Queries } from '../store/store.js'
import { forgetFactor, type OfAccount } from './account.js'

/** A key of an account as it is stored. Times in milliseconds since 1970. */
export interface KeyRow {
  /** The credential id, in base64url. */
  readonly id: string
  readonly method: KeyMethod
  readonly name: string
  /** A COSE key, in base64url. */
  readonly public_key: string
  /** The highest signature counter that was accepted. */
  readonly counter: number
  readonly backup_eligible: boolean
  readonly backed_up: boolean
  readonly transports: readonly string[]
  readonly aaguid: string
  readonly created_at: number
  readonly last_used_at: number | null
}

const COLUMNS = `id, method, name, public_key, counter, backup_eligible, backed_up, transports, aaguid, created_at, last_used_at`
const HANDLE_BYTES = 32

/** The key as callers see it. */
export function keyFrom(row: KeyRow): Key {
  return {
    id: row.id,
    method: row.method,
    name: row.name,
    backupEligible: row.backup_eligible,
    backedUp: row.backed_up,
    createdAt: row.created_at,
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
  }
}

/** The keys of an account, in the order in which they were registered. */
export function listKeys(queries: Queries, application: Partition, account: string): Promise<KeyRow[]> {
  return queries.query<KeyRow>(
    `SELECT ${COLUMNS} FROM account_key WHERE application = $1 AND account = $2 ORDER BY created_at, id`,
    [application.id, account],
  )
}

/** The random id of an account that its keys store, in base64url; `undefined` before the first registration. */
export const findUserHandle: OfAccount<string | undefined> = async (queries, application, account) => {
  const [row] = await queries.query<{ handle: string }>(
    'SELECT handle FROM key_user WHERE application = $1 AND account = $2',
    [application.id, account],
  )
  return row?.handle
}

/** The same, which is created if necessary. The account must be held. */
export const obtainUserHandle: OfAccount<string> = async (tx, application, account) => {
  const known = await findUserHandle(tx, application, account)
  if (known !== undefined) return known
  const handle = randomBytes(HANDLE_BYTES).toString('base64url')
  const values = [application.id, account, handle]
  await tx.query('INSERT INTO key_user (application, account, handle) VALUES ($1, $2, $3)', values)
  return handle
}

/** A key that an assertion names, and what else is needed to check it. */
export interface NamedKey {
  /** The key, if the account has it. */
  readonly key: KeyRow | undefined
  /** Whether another account of the application has it. */
  readonly isOfAnother: boolean
  readonly userHandle: string | undefined
}

/** Finds the key that an assertion names. */
export const findKey: OfAccount<NamedKey, [id: string]> = async (queries, application, account, id) => {
  const [row] = await queries.query<KeyRow & { owner: string }>(
    `SELECT account AS owner, ${COLUMNS} FROM account_key WHERE application = $1 AND id = $2`,
    [application.id, id],
  )
  const userHandle = await findUserHandle(queries, application, account)
  const isOwn = row?.owner === account
  return { key: isOwn ? row : undefined, isOfAnother: row !== undefined && !isOwn, userHandle }
}

/** Stores a new key, and forgets the failures of its factor. `false` if an account of the application has it already. The account must be held. */
export const insertKey: OfAccount<boolean, [row: KeyRow]> = async (tx, application, account, row) => {
  const [inserted] = await tx.query(
    `INSERT INTO account_key (application, account, ${COLUMNS})
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING RETURNING id`,
    [
      ...[application.id, account, row.id, row.method, row.name, row.public_key, row.counter],
      ...[row.backup_eligible, row.backed_up, row.transports, row.aaguid, row.created_at, row.last_used_at],
    ],
  )
  if (!inserted) return false
  const factor = [application.id, account, KEY_TYPE[row.method]]
  await tx.query('DELETE FROM factor WHERE application = $1 AND account = $2 AND factor = $3', factor)
  return true
}

/** Renames a key. `false` if the account has no such key. */
export const renameKey: OfAccount<boolean, [key: Pick<KeyRow, 'id' | 'name'>]> = async (
  queries,
  application,
  account,
  { id, name },
) => {
  const [renamed] = await queries.query(
    'UPDATE account_key SET name = $4 WHERE application = $1 AND account = $2 AND id = $3 RETURNING id',
    [application.id, account, id, name],
  )
  return renamed !== undefined
}

type DeletedKey = Pick<KeyRow, 'method'>

/** Deletes a key, and with the last of its kind what is known about its factor. The account must be held. */
export const deleteKey: OfAccount<DeletedKey | undefined, [id: string]> = async (
  tx,
  application,
  account,
  id,
) => {
  const [deleted] = await tx.query<DeletedKey>(
    'DELETE FROM account_key WHERE application = $1 AND account = $2 AND id = $3 RETURNING method',
    [application.id, account, id],
  )
  if (!deleted) return undefined
  const left = await listKeys(tx, application, account)
  if (!left.some(({ method }) => method === deleted.method)) {
    await forgetFactor(tx, application, account, KEY_TYPE[deleted.method])
  }
  return deleted
}
