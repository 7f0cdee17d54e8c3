import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { reportDriverError, StoreUnavailableError } from './outages.js'
import { CANCEL_GRACE_MS, postgresConnections, type Session, statementName } from './postgres-connections.js'
import { SCHEMA } from './privileges.js'
import { qualifier } from './qualify.js'
import type { PostgresLimits, Queries, Store, Value } from './store.js'

const DEFAULT_LIMITS: PostgresLimits = { poolSize: 10, connectTimeoutMs: 2_000, statementTimeoutMs: 3_000 }
const BACKGROUND_TIMEOUT_MS = 600_000

/** A statement that looks through whole tables is planned with all that PostgreSQL can do. */
const BACKGROUND_SETTINGS = [
  `statement_timeout = ${BACKGROUND_TIMEOUT_MS}`,
  'plan_cache_mode = auto',
  'enable_seqscan = on',
]

/** The longest pause before a transaction that conflicted with another one is repeated. */
const MAX_RETRY_DELAY_MS = 100

// Everything that decides is read with a lock, and a statement that waited for one must see what changed meanwhile.
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/** A store on PostgreSQL 15 or later, shared by any number of processes. Of several hosts, the one that accepts writes is used. */
export function postgresStore(
  databaseUrl: string,
  limits: Partial<PostgresLimits> = {},
  schema = SCHEMA,
): Store {
  const qualify = qualifier(schema)
  const { connectTimeoutMs, statementTimeoutMs, poolSize } = { ...DEFAULT_LIMITS, ...limits }
  const connections = postgresConnections(databaseUrl, { connectTimeoutMs, statementTimeoutMs, poolSize })

  /** Repeats what conflicted with another transaction, or what a server refused that is no longer the primary. */
  async function repeating<T>(attempt: () => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + statementTimeoutMs
    for (let count = 0; ; count++) {
      try {
        return await attempt()
      } catch (error) {
        const delayMs = Math.random() * Math.min(2 ** count, MAX_RETRY_DELAY_MS)
        if (!isRepeatable(error) || performance.now() + delayMs > giveUpAt) throw error
        await wait(delayMs)
      }
    }
  }

  function isRepeatable(error: unknown): boolean {
    if (!(error instanceof StoreUnavailableError)) return false
    return error.reason === 'conflict' || (error.reason === 'read_only' && connections.hasStandby)
  }

  const createTransactions =
    (timeoutMs: number, settingsOf: (session: Session) => readonly string[]): Store['transaction'] =>
    (work) =>
      repeating(() =>
        connections.use((client, session) =>
          runInTransaction(createQueries(client, session, timeoutMs, qualify), work, settingsOf(session)),
        ),
      )
  const limit = [`statement_timeout = ${statementTimeoutMs}`]
  const transaction = createTransactions(statementTimeoutMs, ({ isPooled }) => (isPooled ? limit : []))
  const inBackground = createTransactions(BACKGROUND_TIMEOUT_MS, () => BACKGROUND_SETTINGS)

  function single<Row extends object>(
    client: pg.PoolClient,
    session: Session,
    text: string,
    params: readonly Value[] | undefined,
  ): Promise<Row[]> {
    const queries = createQueries(client, session, statementTimeoutMs, qualify)
    if (!session.isSnapshotted) return queries.query<Row>(text, params)
    return runInTransaction(queries, (tx) => tx.query<Row>(text, params), limit)
  }

  const query = <Row extends object>(text: string, params?: readonly Value[]) =>
    repeating(() => connections.use((client, session) => single<Row>(client, session, text, params)))

  return {
    name: 'postgresql',
    schema,
    query,
    transaction,
    background: {
      query: (text, params) => inBackground((tx) => tx.query(text, params)),
      transaction: inBackground,
    },
    async script(tx, text) {
      await tx.query(`SET LOCAL search_path = ${pg.escapeIdentifier(schema)}`)
      await tx.query(text)
    },
    connections: connections.counts,
    async upkeep() {},
    close: connections.close,
  }
}

/** Runs `work` between BEGIN and COMMIT, with settings for this transaction. */
async function runInTransaction<T>(
  tx: Queries,
  work: (tx: Queries) => Promise<T>,
  settings: readonly string[],
) {
  await tx.query([BEGIN, ...settings.map((setting) => `SET LOCAL ${setting}`)].join('; '))
  try {
    const result = await work(tx)
    await tx.query('COMMIT')
    return result
  } catch (error) {
    const isGone = error instanceof StoreUnavailableError && error.reason !== 'conflict'
    if (!isGone) await tx.query('ROLLBACK')
    throw error
  }
}

function createQueries(
  client: pg.PoolClient,
  session: Session,
  timeoutMs: number,
  qualify: (sql: string) => string,
): Queries {
  return {
    async query<Row extends object>(text: string, params?: readonly Value[]) {
      const query: pg.QueryConfig & { query_timeout: number } = {
        text: qualify(text),
        query_timeout: timeoutMs + CANCEL_GRACE_MS,
      }
      if (params) query.values = params as Value[]
      // A named statement stays prepared on its connection: parsing and planning cost more than running it. Behind a
      // pooler, the connection may be another one next time.
      if (params && !session.isPooled) query.name = statementName(text)
      try {
        return (await client.query(query)).rows as Row[]
      } catch (error) {
        throw reportDriverError(error)
      }
    },
  }
}
