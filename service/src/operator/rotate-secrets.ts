import type { Keys } from '../secrets/keys.js'
import { reseal } from '../secrets/seal.js'
import type { Store } from '../store/store.js'
import { change, type Desk } from './actor.js'
import { type KeyUse, keyUses } from './key-use.js'
import { OperatorError } from './operator-error.js'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.js'

const BATCH = 200
const PASSES = 3

/** What a rotation came to. */
export interface Rotation {
  /** The key that everything is written with. */
  readonly keyId: string
  /** How many sealed texts were moved to it. */
  readonly moved: number
  /** Former keys that nothing depends on any more: their secrets can be taken out of SERVICE_SECRET_PREVIOUS. */
  readonly retired: readonly string[]
  /** What still depends on former keys. */
  readonly remaining: readonly KeyUse[]
}

/**
 * Seals everything with the key of today, in batches, while services go on working: each text is exchanged only if
 * it is still the one that was read. Codes cannot be moved; with `dropBackupCodes` those of former keys are deleted.
 */
export async function rotateSecrets(
  desk: Desk,
  keys: Keys,
  { dropBackupCodes = false }: { readonly dropBackupCodes?: boolean | undefined } = {},
): Promise<Rotation> {
  await refuseUnknown(desk.store, keys)
  let moved = 0
  // A service that was still starting may have written with the former key behind our back.
  for (let pass = 0; pass < PASSES; pass++) {
    let now = 0
    for (const column of SEALED_COLUMNS) now += await moveColumn(desk.store, keys, column)
    moved += now
    if (now === 0) break
  }
  return change(
    desk,
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

async function refuseUnknown(store: Store, keys: Keys): Promise<void> {
  const known = new Set([keys.id, ...keys.previous.map(({ id }) => id)])
  const unknown = (await keyUses(store, Date.now())).filter(
    ({ keyId, movable }) => movable && !known.has(keyId),
  )
  if (unknown.length === 0) return
  const ids = [...new Set(unknown.map(({ keyId }) => keyId))].join(', ')
  throw new OperatorError(
    `The store holds what was sealed with key ${ids}, which is not made of SERVICE_SECRET or SERVICE_SECRET_PREVIOUS: ` +
      'name the secret it was made of in SERVICE_SECRET_PREVIOUS.',
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
    const rows = await page(store, keys.id, column, after)
    const last = rows.at(-1)
    if (!last) return moved
    after = keyOf(column, last)
    moved += await exchange(store, keys, column, rows)
  }
}

function page(
  store: Store,
  keyId: string,
  { table, column, key, owner }: SealedColumn,
  after: readonly string[] | undefined,
): Promise<Row[]> {
  const keyed = key.map((name, index) => `${name}::text AS key${index}`).join(', ')
  const types = key.map((name, index) => `$${index + 2}${typeOf(name)}`)
  const beyond = after ? `AND (${key.join(', ')}) > (${types.join(', ')})` : ''
  return store.query<Row>(
    `SELECT ${keyed}, ${owner[0]} AS first, ${owner[1]} AS second, ${column} AS sealed FROM ${table}
     WHERE ${column} IS NOT NULL AND split_part(${column}, '.', 2) <> $1 ${beyond}
     ORDER BY ${key.join(', ')} LIMIT ${BATCH}`,
    [keyId, ...(after ?? [])],
  )
}

async function exchange(
  store: Store,
  keys: Keys,
  column: SealedColumn,
  rows: readonly Row[],
): Promise<number> {
  const fresh = rows.map((row) => reseal(keys, column.identity(row.first, row.second), row.sealed))
  const names = column.key.map((_, index) => `key${index}`)
  const same = column.key
    .map((name, index) => `${column.table}.${name} = m.key${index}${typeOf(name)}`)
    .join(' AND ')
  const lists = ['former', 'fresh', ...names].map((_, index) => `$${index + 1}::text[]`).join(', ')
  const done = await store.query(
    `UPDATE ${column.table} SET ${column.column} = m.fresh
     FROM unnest(${lists}) AS m (former, fresh, ${names.join(', ')})
     WHERE ${same} AND ${column.table}.${column.column} = m.former RETURNING 1`,
    [
      rows.map((row) => row.sealed),
      fresh,
      ...column.key.map((_, index) => rows.map((row) => row[`key${index}`] ?? '')),
    ],
  )
  return done.length
}

function typeOf(name: string): string {
  return name === 'position' ? '::bigint' : '::text'
}

function keyOf({ key }: SealedColumn, row: Row): string[] {
  return key.map((_, index) => row[`key${index}`] ?? '')
}
