import { setTimeout as wait } from 'node:timers/promises'
import { sqlStateOf } from './sql-state.js'
import { type Queries, queryOne, type Store } from './store.js'
import { StoreUnavailableError } from './store-unavailable.js'

/** An index of each partition of a table, which is named after the partition. */
const ON_PARTITIONS = /^CREATE INDEX CONCURRENTLY \*(\w+) ON EACH PARTITION OF (\w+) ([^;]*);?\s*$/m
const STATEMENT = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+) ON \w+ [^;]*;?\s*$/m
const PAUSE_MS = 500
const DUPLICATE_TABLE = '42P07'
const INTERNAL_ERROR = 'XX000'

/**
 * Builds an index while other processes read and write its table. Several processes may build the same one: one does, and
 * the others wait for it. An index that was left unfinished is dropped and built again.
 */
export async function createIndexConcurrently(store: Store, script: string): Promise<void> {
  const [isOnPartitions, ending, table = '', definition] = ON_PARTITIONS.exec(script) ?? []
  if (!isOnPartitions) return createOne(store, script)
  const partitions = await store.query<{ name: string }>(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = to_regclass($1) ORDER BY name',
    [table],
  )
  for (const { name } of partitions) {
    await createOne(store, `CREATE INDEX CONCURRENTLY ${name}${ending} ON ${name} ${definition}`)
  }
}

async function createOne(store: Store, script: string): Promise<void> {
  const [statement = '', name = ''] = STATEMENT.exec(script) ?? []
  if (!name)
    throw new Error(
      'A migration of an index must be one CREATE [UNIQUE] INDEX CONCURRENTLY <name> ON <table>, or *<ending> ON EACH PARTITION OF <table>.',
    )
  for (;;) {
    const state = await stateOf(store, name)
    if (state === 'valid') return
    if (state === 'in progress') await wait(PAUSE_MS)
    else {
      const drop = `DROP INDEX CONCURRENTLY IF EXISTS ${name}`
      await store.alone(state === 'absent' ? statement : drop).catch(ignoreOtherProcess)
    }
  }
}

async function stateOf(
  queries: Queries,
  name: string,
): Promise<'absent' | 'valid' | 'in progress' | 'unfinished'> {
  const row = await queryOne<{ valid: boolean; building: boolean }>(
    queries,
    `SELECT indisvalid AS valid,
       EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid) AS building
     FROM pg_index WHERE indexrelid = to_regclass($1)`,
    [name],
  )
  if (!row) return 'absent'
  if (row.valid) return 'valid'
  return row.building ? 'in progress' : 'unfinished'
}

/** Another process began to build the index, or both waited for each other, or something else changed its entry in the catalog. */
function ignoreOtherProcess(error: unknown): void {
  const isConflict = error instanceof StoreUnavailableError && error.reason === 'conflict'
  if (!isConflict && sqlStateOf(error) !== DUPLICATE_TABLE && !isCatalogConflict(error)) throw error
}

/** PostgreSQL has no code of its own for this. */
function isCatalogConflict(error: unknown): boolean {
  return (
    sqlStateOf(error) === INTERNAL_ERROR &&
    /tuple concurrently (?:updated|deleted)/.test((error as Error).message)
  )
}
