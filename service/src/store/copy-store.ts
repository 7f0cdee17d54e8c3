import { TABLES } from './privileges.js'
import { type Queries, queryOne, type Store } from './store.js'

const BATCH_SIZE = 1_000
const SEQUENCES = { audit_position_seq: 'audit', inbox_position_seq: 'inbox' } as const

// Keys refer to their application.
const IN_ORDER = ['application', ...TABLES.filter((name) => name !== 'application')]

/** How many rows of a table were copied. */
export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** The tables of a store that have rows. */
export async function tablesWithRows(queries: Queries): Promise<string[]> {
  const found: string[] = []
  for (const table of IN_ORDER) {
    if ((await queries.query(`SELECT FROM ${table} LIMIT 1`)).length > 0) found.push(table)
  }
  return found
}

/**
 * Copies every row of a store, as of one moment, to an empty store with the same migrations, in one transaction: all rows
 * arrive or none. PGlite and PostgreSQL can be either of them.
 */
export function copyStore(from: Store, to: Store): Promise<CopiedTable[]> {
  return from.background.transaction(async (source) => {
    await source.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return to.background.transaction(async (target) => {
      const copied: CopiedTable[] = []
      for (const table of IN_ORDER) copied.push({ table, rows: await copyTable(source, target, table) })
      for (const [sequence, table] of Object.entries(SEQUENCES)) {
        await target.query(`SELECT setval('${sequence}', max(position)) FROM ${table} HAVING count(*) > 0`)
      }
      return copied
    })
  })
}

async function copyTable(source: Queries, target: Queries, table: string): Promise<number> {
  // Generated columns are generated again.
  const named = await queryOne<{ columns: string }>(
    target,
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [table],
  )
  await source.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT to_jsonb(t)::text AS row FROM ${table} AS t`)
  let copied = 0
  for (;;) {
    const rows = await source.query<{ row: string }>(`FETCH ${BATCH_SIZE} FROM copied`)
    if (rows.length === 0) break
    await target.query(
      `INSERT INTO ${table} (${named?.columns}) SELECT ${named?.columns} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
      [`[${rows.map(({ row }) => row).join(',')}]`],
    )
    copied += rows.length
  }
  await source.query('CLOSE copied')
  const counted = await queryOne<{ rows: number }>(
    target,
    `SELECT count(*)::bigint AS rows FROM ${table}`,
    [],
  )
  if (Number(counted?.rows) !== copied)
    throw new Error(`Of ${copied} rows of ${table}, ${counted?.rows} arrived.`)
  return copied
}
