import { selectWaiting } from '../messages/delivery/outbox-table.js'
import type { Keys } from '../store/secrets/keys.js'
import type { Queries, Store } from '../store/store.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { KEYED_COLUMNS, type KeyedColumn } from './keyed-columns.js'

const BATCH_SIZE = 500
const MAX_PASSES = 3
/** Backup codes that one statement drops, so that no request waits long for it. */
const DROPPED_TOGETHER = 10_000

/** The result of a rotation. */
export interface Rotation {
  /** The current key. */
  readonly keyId: string
  /** How many sealed texts and hashes were moved to it. */
  readonly moved: number
  /** Former keys on which nothing depends any more: their secrets can be removed from SERVICE_PREVIOUS_SECRETS. */
  readonly retired: readonly string[]
  /** The rows that still depend on former keys. */
  readonly remaining: readonly KeyUse[]
}

/**
 * Encrypts every sealed text with the current key, and makes the hashes by which accounts are found anew, in batches, while
 * services keep running: a text is replaced only if it has not changed since it was read. Codes cannot be moved;
 * `dropBackupCodes` deletes those of former keys. Throws an `OperatorError` when the store depends on an unknown key.
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
    for (const column of KEYED_COLUMNS) moved += await moveColumn(store, keys, column)
  }
  if (dropBackupCodes) await dropFormerBackupCodes(store, keys)
  return changeWithAudit(actor, async (tx, record) => {
    await tx.query('INSERT INTO sealing_key (key_id) VALUES ($1) ON CONFLICT DO NOTHING', [keys.id])
    const remaining = (await keyUses(tx, Date.now())).filter(({ keyId }) => keyId !== keys.id)
    const needed = [keys.id, ...remaining.map(({ keyId }) => keyId)]
    const rows = await tx.query<{ key_id: string }>(
      'DELETE FROM sealing_key WHERE key_id <> ALL ($1::text[]) RETURNING key_id',
      [needed],
    )
    const retired = rows.map((row) => row.key_id)
    const detail = [
      `to ${keys.id}, ${moved} moved`,
      ...retired.map((id) => `${id} retired`),
      ...(dropBackupCodes ? ['backup codes of former keys dropped'] : []),
    ].join(', ')
    record({ action: 'secrets.rotated', detail })
    return { keyId: keys.id, moved, retired, remaining }
  })
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
  readonly text: string | null
  readonly [key: `key${number}`]: string
  readonly [order: `order${number}`]: string
}

type KeyedRow = Row & { readonly text: string }

async function moveColumn(store: Store, keys: Keys, column: KeyedColumn): Promise<number> {
  let moved = 0
  let after: readonly string[] | undefined
  for (;;) {
    const rows = await nextBatch(store, column, after)
    const former = rows.filter(({ text }) => text !== null && column.keyIdOf(text) !== keys.id)
    if (former.length > 0) moved += await replaceBatch(store, keys, column, former as KeyedRow[])
    const last = rows.at(-1)
    if (!last || rows.length < BATCH_SIZE) return moved
    after = orderOf(column).map((_, index) => last[`order${index}`] ?? '')
  }
}

/** The next rows in the order of an index, whatever key they depend on: so no batch reads more than its rows. */
function nextBatch(store: Store, column: KeyedColumn, after: readonly string[] | undefined): Promise<Row[]> {
  const { table, key, owner, where = 'true' } = column
  const order = orderOf(column)
  const texts = (names: readonly string[], prefix: string) =>
    names.map((name, index) => `${name}::text AS ${prefix}${index}`).join(', ')
  const parameters = order.map((name, index) => `$${index + 1}${castOf(name)}`)
  const condition = after ? `AND (${order.join(', ')}) > (${parameters.join(', ')})` : ''
  return store.query<Row>(
    `SELECT ${texts(key, 'key')}, ${texts(order, 'order')}, ${owner[0]} AS first, ${owner[1]} AS second,
       ${column.column} AS text
     FROM ${table} WHERE ${where} ${condition} ORDER BY ${order.map((name) => `${table}.${name}`).join(', ')} LIMIT ${BATCH_SIZE}`,
    after ?? [],
  )
}

async function replaceBatch(store: Store, keys: Keys, column: KeyedColumn, rows: readonly KeyedRow[]) {
  const moved = rows.map((row) => column.moved(keys, row.text, row.first, row.second))
  const names = column.key.map((_, index) => `key${index}`)
  const sameRow = column.key
    .map((name, index) => `${column.table}.${name} = m.key${index}${castOf(name)}`)
    .join(' AND ')
  const lists = ['former', 'moved', ...names].map((_, index) => `$${index + 1}::text[]`).join(', ')
  const replaced = await store.query(
    `UPDATE ${column.table} SET ${column.column} = m.moved
     FROM unnest(${lists}) AS m (former, moved, ${names.join(', ')})
     WHERE ${sameRow} AND ${column.table}.${column.column} = m.former RETURNING 1`,
    [
      rows.map((row) => row.text),
      moved,
      ...column.key.map((_, index) => rows.map((row) => row[`key${index}`] ?? '')),
    ],
  )
  return replaced.length
}

function castOf(name: string): string {
  return ['position', 'due_at', 'created_at'].includes(name) ? '::bigint' : '::text'
}

function orderOf({ key, order = key }: KeyedColumn): readonly string[] {
  return order
}

/** Rows that depend on a key are counted up to this number: more would take as long as they are many. */
const MAX_COUNT = 10_000

const BACKUP_CODES = 'backup codes'

/** How much of the store depends on a key. */
export interface KeyUse {
  readonly keyId: string
  /** The things that depend on it, in words. */
  readonly what: string
  /** How many; large numbers are not counted to the end. */
  readonly count: number
  /** Whether `rotate-secrets` can move it to another key. Codes cannot be moved: they stay until they are used or expire. */
  readonly movable: boolean
}

/** A key's use in words, without a full stop. */
export function describeKeyUse({ keyId, what, count }: KeyUse): string {
  return `${count < MAX_COUNT ? count : `${MAX_COUNT} or more`} ${what} depend on key ${keyId}`
}

/** The uses of each key in a column that has an index of its keys, which is at this position of the text. */
const countIndexedUses = (table: string, column: string, position: number, what: string, movable: number) => {
  const key = `split_part(${column}, '.', ${position})`
  const selectNextSql = (after: string) =>
    `SELECT ${key} FROM ${table} WHERE ${key} IS NOT NULL ${after} ORDER BY ${key} LIMIT 1`
  // From one key to the next, however many rows each has.
  return `SELECT * FROM (
      WITH RECURSIVE used (key_id) AS (
        (${selectNextSql('')}) UNION ALL SELECT (${selectNextSql(`AND ${key} > used.key_id`)}) FROM used WHERE used.key_id IS NOT NULL
      )
      SELECT key_id, '${what}' AS what, ${movable} AS movable, (SELECT count(*) FROM (
        SELECT FROM ${table} WHERE ${key} = used.key_id LIMIT ${MAX_COUNT}) AS counted) AS count
      FROM used WHERE key_id IS NOT NULL
    ) AS ${table}_${column}`
}

/** The uses of each key in a column of accounts whose texts begin with the id of their key and are indexed in byte order. */
const hashUses = (column: string) => {
  const selectNextSql = (after: string) =>
    `SELECT split_part(${column}, '.', 1) FROM account WHERE ${column} IS NOT NULL ${after} ORDER BY ${column} LIMIT 1`
  // In byte order, a slash follows the dot behind the id.
  const end = "used.key_id || '/'"
  return `SELECT * FROM (
      WITH RECURSIVE used (key_id) AS (
        (${selectNextSql('')}) UNION ALL SELECT (${selectNextSql(`AND ${column} > ${end}`)}) FROM used WHERE used.key_id IS NOT NULL
      )
      SELECT key_id, 'hashes of accounts' AS what, 1 AS movable, (SELECT count(*) FROM (
        SELECT FROM account WHERE ${column} > used.key_id AND ${column} < ${end} LIMIT ${MAX_COUNT}) AS counted) AS count
      FROM used WHERE key_id IS NOT NULL
    ) AS account_${column}`
}

// Messages are sealed while they are queued.
const KEY_USES = `SELECT key_id AS "keyId", what, movable = 1 AS movable, least(sum(count), ${MAX_COUNT})::integer AS count FROM (
    ${countIndexedUses('app_secret', 'sealed', 2, 'authenticator secrets', 1)}
    UNION ALL ${countIndexedUses('app_secret', 'pending', 2, 'authenticator secrets', 1)}
    UNION ALL ${hashUses('reference')}
    UNION ALL ${hashUses('email_hash')}
    UNION ALL ${hashUses('phone_hash')}
    UNION ALL ${countIndexedUses('backup_code', 'mac', 1, BACKUP_CODES, 0)}
    UNION ALL ${countIndexedUses('inbox', 'sealed', 2, 'inbox messages', 1)}
    UNION ALL ${selectWaiting("split_part(sealed, '.', 2), 'queued messages', 1, 1")}
    UNION ALL SELECT split_part(sealed, '.', 2), 'transcription jobs', 1, 1 FROM transcription_job
    UNION ALL SELECT split_part(sealed, '.', 2), 'webhook secrets', 1, 1 FROM application_webhook
    UNION ALL SELECT split_part(former, '.', 2), 'webhook secrets', 1, 1 FROM application_webhook WHERE former IS NOT NULL
    UNION ALL SELECT split_part(sealed, '.', 2), 'webhook secrets', 1, 1 FROM event_endpoint
    UNION ALL SELECT split_part(former, '.', 2), 'webhook secrets', 1, 1 FROM event_endpoint WHERE former IS NOT NULL
    UNION ALL SELECT split_part(code_mac, '.', 1) AS key, 'delivered codes', 0, count(*)
      FROM challenge WHERE ended_at IS NULL AND expires_at > $1 GROUP BY key
  ) AS used GROUP BY key_id, what, movable ORDER BY key_id, what`

/** The rows that depend on each key at this time. */
export function keyUses(queries: Queries, now: number): Promise<KeyUse[]> {
  return queries.query<KeyUse>(KEY_USES, [now])
}
