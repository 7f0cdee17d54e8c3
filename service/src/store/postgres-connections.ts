import { createHash } from 'node:crypto'
import pg from 'pg'
import { ConfigurationError } from '../process/configuration-error.js'
import { reportDriverError, StoreUnavailableError } from './outages.js'
import type { ConnectionCounts, PostgresLimits } from './store.js'

/** The facts known of a connection. */
export interface Session {
  /** Another program, such as PgBouncer, hands each transaction to any of its connections. */
  readonly isPooled: boolean
  /** A single statement would run in another isolation level than READ COMMITTED. */
  readonly isSnapshotted: boolean
}

/** How much longer than a statement may take its answer may take, so that the database cancels it first. */
export const CANCEL_GRACE_MS = 500
/** How the connections of the service are known to PostgreSQL. */
export const APPLICATION_NAME = 'countersign'
const KEEP_ALIVE_AFTER_MS = 10_000
/** How long to wait for a free connection: under load, a late answer is better than none. */
const FREE_CONNECTION_MS = 5_000
const IDLE_TRANSACTION_MS = 10_000

// A connection whose process has another id leads to a pooler, on whose shared connections nothing must be set.
const BEGIN_SESSION = `SELECT current_setting('default_transaction_isolation') AS isolation,
  current_setting('transaction_read_only') = 'on' AS is_read_only,
  pg_backend_pid() <> $1::integer AS is_pooled,
  CASE WHEN pg_backend_pid() = $1::integer THEN
    set_config('default_transaction_isolation', 'read committed', false)
    -- Every statement finds its rows by an index. Planning anew would cost more than running it, and a plan that was made
    -- while a table was empty must not read it as a whole until statistics are there.
    || set_config('plan_cache_mode', 'force_generic_plan', false) || set_config('jit', 'off', false)
    || set_config('enable_seqscan', 'off', false)
    || set_config('statement_timeout', $2::text, false)
    || set_config('idle_in_transaction_session_timeout', $3::text, false) END AS settings`

// The message of `pg` when every connection of the pool is in use for too long.
const POOL_EXHAUSTED = 'timeout exceeded when trying to connect'

/** Connects to the first host that accepts writes, and keeps connections open. */
export function postgresConnections(databaseUrl: string, limits: PostgresLimits) {
  const pools = connectionStrings(databaseUrl).map((connectionString) => openPool(connectionString, limits))
  const sessions = new WeakMap<pg.PoolClient, Session & { readonly generation: number }>()
  let current = 0
  // Connections that were made before the latest failure of one of them may be dead too.
  let generation = 0

  async function acquire(): Promise<pg.PoolClient> {
    let failure: unknown
    for (const _ of pools) {
      const tried = current
      try {
        return await connect(pools[tried] as pg.Pool)
      } catch (error) {
        failure = error
        if (error instanceof Error && error.message === POOL_EXHAUSTED) {
          throw new StoreUnavailableError('overloaded', { cause: error })
        }
        if (tried === current) current = (tried + 1) % pools.length
      }
    }
    throw reportDriverError(failure)
  }

  async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect()
      const session = sessions.get(client)
      if (session?.generation === generation) return client
      if (session) {
        client.release(true)
        continue
      }
      try {
        sessions.set(client, { ...(await begin(client)), generation })
        return client
      } catch (error) {
        client.release(true)
        throw error
      }
    }
  }

  async function begin(client: pg.PoolClient): Promise<Session> {
    const ownProcess: unknown = Reflect.get(client, 'processID')
    const { rows } = await client.query<{ isolation: string; is_read_only: boolean; is_pooled: boolean }>(
      BEGIN_SESSION,
      [ownProcess, String(limits.statementTimeoutMs), String(IDLE_TRANSACTION_MS)],
    )
    const [row] = rows
    // With one host, the statement that writes fails.
    if (row?.is_read_only && pools.length > 1)
      throw new StoreUnavailableError('read_only', { cause: undefined })
    const isPooled = row?.is_pooled === true
    return { isPooled, isSnapshotted: isPooled && row?.isolation !== 'read committed' }
  }

  return {
    /** Whether another host may accept what this one refuses. */
    hasStandby: pools.length > 1,
    /** Runs `work` on a server that accepts writes, or throws a `StoreUnavailableError`. A connection that fails is closed. */
    async use<T>(work: (client: pg.PoolClient, session: Session) => Promise<T>): Promise<T> {
      const client = await acquire()
      const session = sessions.get(client) as Session
      try {
        const result = await work(client, session)
        client.release()
        return result
      } catch (error) {
        const isSuspect = error instanceof StoreUnavailableError && error.reason !== 'conflict'
        if (isSuspect && (error.reason === 'unreachable' || error.reason === 'read_only')) generation++
        client.release(isSuspect)
        throw error
      }
    },
    counts(): ConnectionCounts {
      const sum = (count: (pool: pg.Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0)
      const idle = sum((pool) => pool.idleCount)
      return {
        used: sum((pool) => pool.totalCount) - idle,
        idle,
        waiting: sum((pool) => pool.waitingCount),
        max: limits.poolSize,
      }
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

function openPool(connectionString: string, limits: PostgresLimits): pg.Pool {
  // The pool's own time limit also applies to waiting for a connection that is in use.
  class Client extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super({ ...(config as pg.ClientConfig), connectionTimeoutMillis: limits.connectTimeoutMs })
    }
  }
  const pool = new pg.Pool({
    connectionString,
    application_name: APPLICATION_NAME,
    Client,
    max: limits.poolSize,
    connectionTimeoutMillis: FREE_CONNECTION_MS,
    query_timeout: limits.statementTimeoutMs + CANCEL_GRACE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser: typeParser },
  })
  // The pool replaces a broken connection, and its statement fails. Without these handlers the `error` event would end
  // the process: the pool emits it for an idle connection, the connection itself during a transaction.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return pool
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/

/** The values of `target_session_attrs` that a service can work with: it writes all the time. */
const WRITABLE = ['read-write', 'primary']

/** A connection string for each host, as in libpq. Throws a `ConfigurationError` for a `target_session_attrs` that does not write. */
function connectionStrings(databaseUrl: string): string[] {
  const [, start = '', hosts = '', rest = ''] = PARTS.exec(databaseUrl) ?? []
  const [path = '', query = ''] = split(rest, '?')
  const parameters = new URLSearchParams(query)
  const wanted = parameters.get('target_session_attrs')
  if (wanted !== null && !WRITABLE.includes(wanted)) {
    throw new ConfigurationError([
      `target_session_attrs in DATABASE_URL must be read-write (got ${wanted}), because the service writes to its database.`,
    ])
  }
  // Not through URLSearchParams, which would change the encoding of the other parameters.
  const others = query.split('&').filter((part) => part !== '' && !part.startsWith('target_session_attrs='))
  const end = others.length > 0 ? `${path}?${others.join('&')}` : path
  return hosts.split(',').map((host) => `${start}${host}${end}`)
}

function split(text: string, by: string): string[] {
  const at = text.indexOf(by)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

const INT8: number = 20
const INT8_ARRAY: number = 1016

/** The parsers of column values: `bigint` columns arrive as numbers. */
function typeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8) return Number
  if (oid === INT8_ARRAY) {
    const parse = pg.types.getTypeParser(oid, 'text')
    return (text: string) => (parse(text) as string[]).map(Number)
  }
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')
}

const names = new Map<string, string>()

/** The name under which a statement is prepared. */
export function statementName(text: string): string {
  const name = names.get(text) ?? createHash('sha256').update(text).digest('base64url')
  names.set(text, name)
  return name
}
