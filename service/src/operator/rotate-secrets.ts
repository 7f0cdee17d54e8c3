import type { Keys } from '../secrets/keys.js'
import { reseal } from '../secrets/seal.js'
import type { Store } from '../store/store.js'
import type { Actor } from './actor.js'
import { auditedChange } from './audited-change.js'
import { type KeyUse, keyUses } from './key-use.js'
import { OperatorError } from './operator-error.js'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.js'

const BATCH_SIZE = 200
const MAX_PASSES = 3

/** The result of a rotation. */
export interface Rotation {
  /** The current key. */
  readonly keyId: string
  /** How many sealed texts were moved to it. */
  readonly moved: number
  /** Former keys on which nothing depends any more: their secrets can be removed from SERVICE_SECRET_PREVIOUS. */
  readonly retired: readonly string[]
  /** What still depends on former keys. */
  readonly remaining: readonly KeyUse[]
}

/**
 * Encrypts every sealed text with the current key, in batches, while services keep running: a text is replaced only if
 * it has not changed since it was read. Codes cannot be moved; `dropBackupCodes` deletes those of former keys. Throws
 * an `OperatorError` when the store depends on an unknown key.
 */
export async function rotateSecrets(
  actor: Actor,
  keys: Keys,
  { dropBackupCodes = false }: { readonly dropBackupCodes?: boolean | undefined } = {},
): Promise<Rotation> {
  await refuseUnknownKeys(actor.store, keys)
  let moved = 0
  // A service that was starting in the meantime may have written with the former key.
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    let movedNow = 0
    for (const column of SEALED_COLUMNS) movedNow += await moveColumn(actor.store, keys, column)
    moved += movedNow
    if (movedNow === 0) break
  }
  return auditedChange(
    actor,
    async (tx) => {
      if (dropBackupCodes) {
        await tx.query("DELETE FROM backup_code WHERE split_part(mac, '.', 1) <> $1", [keys.id])
      }
      await tx.query('INSERT INTO sealing_key (key_id) VALUES ($1) ON CONFLICT DO NOTHING', [keys.id])
      const remaining = (await keyUses(tx, Date.now())).filter(({ keyId }) => keyId !== keys.id)
      const needed = [keys.id, ...remaining.map(({ keyId }) => keyId)]
      const retired = await tx.query<{ key_id: string }>(
        'DELETE FROM sealing_key WHERE key_id <> ALL ($1::text[]) RETURNING key_id',
        [needed],
      )
      return { keyId: keys.id, moved, retired: retired.map((row) => row.key_id), remaining }
    },
    ({ retired }) => ({
      application: '',
      action: 'secrets.rotated',
      detail: [
        `to ${keys.id}, ${moved} moved`,
        ...retired.map((id) => `${id} retired`),
        ...(dropBackupCodes ? ['backup codes of former keys dropped'] : []),
      ].join(', '),
    }),
  )
}

async function refuseUnknownKeys(store: Store, keys: Keys): Promise<void> {
  const known = new Set([keys.id, ...keys.previous.map(({ id }) => id)])
  const unknown = (await keyUses(store, Date.now())).filter(
    ({ keyId, movable }) => movable && !known.has(keyId),
  )
  if (unknown.length === 0) return
  const ids = [...new Set(unknown.map(({ keyId }) => keyId))].join(', ')
  throw new OperatorError(
    `The store contains text sealed with key ${ids}, which comes from neither SERVICE_SECRET nor SERVICE_SECRET_PREVIOUS: ` +
      'add the secret of that key to SERVICE_SECRET_PREVIOUS.',
  )
}

interface Row {
  readonly first: string
  readonly second: string
  readonly sealed: string
  readonly [key: `key${number}`]: string
}

async function moveColumn(store: Store, keys: Keys, column: SealedColumn): Promise<number> {
  let moved = 0
  let after: readonly string[] | undefined
  for (;;) {
    const rows = await nextBatch(store, keys.id, column, after)
    const last = rows.at(-1)
    if (!last) return moved
    after = keyOf(column, last)
    moved += await replaceBatch(store, keys, column, rows)
  }
}

function nextBatch(
  store: Store,
  keyId: string,
  { table, column, key, owner }: SealedColumn,
  after: readonly string[] | undefined,
): Promise<Row[]> {
  const keyColumns = key.map((name, index) => `${name}::text AS key${index}`).join(', ')
  const parameters = key.map((name, index) => `$${index + 2}${castOf(name)}`)
  const condition = after ? `AND (${key.join(', ')}) > (${parameters.join(', ')})` : ''
  return store.query<Row>(
    `SELECT ${keyColumns}, ${owner[0]} AS first, ${owner[1]} AS second, ${column} AS sealed FROM ${table}
     WHERE ${column} IS NOT NULL AND split_part(${column}, '.', 2) <> $1 ${condition}
     ORDER BY ${key.join(', ')} LIMIT ${BATCH_SIZE}`,
    [keyId, ...(after ?? [])],
  )
}

async function replaceBatch(
  store: Store,
  keys: Keys,
  column: SealedColumn,
  rows: readonly Row[],
): Promise<number> {
  const resealed = rows.map((row) => reseal(keys, column.identity(row.first, row.second), row.sealed))
  const names = column.key.map((_, index) => `key${index}`)
  const sameRow = column.key
    .map((name, index) => `${column.table}.${name} = m.key${index}${castOf(name)}`)
    .join(' AND ')
  const lists = ['former', 'resealed', ...names].map((_, index) => `$${index + 1}::text[]`).join(', ')
  const replaced = await store.query(
    `UPDATE ${column.table} SET ${column.column} = m.resealed
     FROM unnest(${lists}) AS m (former, resealed, ${names.join(', ')})
     WHERE ${sameRow} AND ${column.table}.${column.column} = m.former RETURNING 1`,
    [
      rows.map((row) => row.sealed),
      resealed,
      ...column.key.map((_, index) => rows.map((row) => row[`key${index}`] ?? '')),
    ],
  )
  return replaced.length
}

function castOf(name: string): string {
  return name === 'position' ? '::bigint' : '::text'
}

function keyOf({ key }: SealedColumn, row: Row): string[] {
  return key.map((_, index) => row[`key${index}`] ?? '')
}
