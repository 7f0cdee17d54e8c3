import type { Keys } from '../secrets/keys.js'
import { reseal, sealingKeyOf } from '../secrets/seal.js'
import type { Store } from '../store/store.js'
import type { Actor } from './actor.js'
import { auditedChange } from './audited-change.js'
import { BACKUP_CODES, type KeyUse, keyUses } from './key-use.js'
import { OperatorError } from './operator-error.js'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.js'

const BATCH_SIZE = 500
const MAX_PASSES = 3
/** Backup codes that one statement drops, so that no request waits long for it. */
const DROPPED_TOGETHER = 10_000

/** The result of a rotation. */
export interface Rotation {
  /** The current key. */
  readonly keyId: string
  /** How many sealed texts were moved to it. */
  readonly moved: number
  /** Former keys on which nothing depends any more: their secrets can be removed from SERVICE_PREVIOUS_SECRETS. */
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
  const { store } = actor
  await refuseUnknownKeys(store, keys)
  let moved = 0
  // A service that was starting in the meantime may have written with the former key.
  for (let pass = 0; pass < MAX_PASSES && (await isToBeMoved(store, keys)); pass++) {
    for (const column of SEALED_COLUMNS) moved += await moveColumn(store, keys, column)
  }
  if (dropBackupCodes) await dropFormerBackupCodes(store, keys)
  return auditedChange(
    actor,
    async (tx) => {
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
    `The store contains text sealed with key ${ids}, which comes from neither SERVICE_SECRET nor SERVICE_PREVIOUS_SECRETS: ` +
      'add the secret of that key to SERVICE_PREVIOUS_SECRETS.',
  )
}

async function isToBeMoved(store: Store, keys: Keys): Promise<boolean> {
  const uses = await keyUses(store, Date.now())
  return uses.some(({ keyId, movable }) => movable && keyId !== keys.id)
}

async function dropFormerBackupCodes(store: Store, keys: Keys): Promise<void> {
  for (;;) {
    const former = (await keyUses(store, Date.now())).find(
      ({ keyId, what }) => what === BACKUP_CODES && keyId !== keys.id,
    )
    if (!former) return
    await store.query(
      `DELETE FROM backup_code WHERE (application, account, mac) IN (
         SELECT application, account, mac FROM backup_code WHERE split_part(mac, '.', 1) = $1 LIMIT ${DROPPED_TOGETHER})`,
      [former.keyId],
    )
  }
}

interface Row {
  readonly first: string
  readonly second: string
  readonly sealed: string | null
  readonly [key: `key${number}`]: string
  readonly [order: `order${number}`]: string
}

type SealedRow = Row & { readonly sealed: string }

async function moveColumn(store: Store, keys: Keys, column: SealedColumn): Promise<number> {
  let moved = 0
  let after: readonly string[] | undefined
  for (;;) {
    const rows = await nextBatch(store, column, after)
    const former = rows.filter(({ sealed }) => sealed !== null && sealingKeyOf(sealed) !== keys.id)
    if (former.length > 0) moved += await replaceBatch(store, keys, column, former as SealedRow[])
    const last = rows.at(-1)
    if (!last || rows.length < BATCH_SIZE) return moved
    after = orderOf(column).map((_, index) => last[`order${index}`] ?? '')
  }
}

/** The next rows in the order of an index, whatever key they are sealed with: so no batch reads more than its rows. */
function nextBatch(store: Store, column: SealedColumn, after: readonly string[] | undefined): Promise<Row[]> {
  const { table, key, owner, where = 'true' } = column
  const order = orderOf(column)
  const texts = (names: readonly string[], prefix: string) =>
    names.map((name, index) => `${name}::text AS ${prefix}${index}`).join(', ')
  const parameters = order.map((name, index) => `$${index + 1}${castOf(name)}`)
  const condition = after ? `AND (${order.join(', ')}) > (${parameters.join(', ')})` : ''
  return store.query<Row>(
    `SELECT ${texts(key, 'key')}, ${texts(order, 'order')}, ${owner[0]} AS first, ${owner[1]} AS second,
       ${column.column} AS sealed
     FROM ${table} WHERE ${where} ${condition} ORDER BY ${order.map((name) => `${table}.${name}`).join(', ')} LIMIT ${BATCH_SIZE}`,
    after ?? [],
  )
}

async function replaceBatch(
  store: Store,
  keys: Keys,
  column: SealedColumn,
  rows: readonly SealedRow[],
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
  return name === 'position' || name === 'due_at' ? '::bigint' : '::text'
}

function orderOf({ key, order = key }: SealedColumn): readonly string[] {
  return order
}
