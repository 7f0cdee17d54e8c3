import session, { MemoryStore } from 'express-session'

/**
 * Where an app keeps sessions and counters: in its own memory, in Redis when `REDIS_URL` is set, or in PostgreSQL when
 * `DATABASE_URL` is. `redis` is the connected client then, and `pool` the connection pool.
 */
export async function openStores() {
  const { REDIS_URL, DATABASE_URL } = process.env
  if (DATABASE_URL) return openPostgres(DATABASE_URL)
  if (!REDIS_URL) return { sessionStore: new MemoryStore(), redis: undefined }
  const { createClient } = await import('redis')
  const { RedisStore } = await import('connect-redis')
  const redis = await createClient({ url: REDIS_URL }).connect()
  return { sessionStore: new RedisStore({ client: redis }), redis }
}

async function openPostgres(connectionString) {
  const { default: pg } = await import('pg')
  const { default: connectPgSimple } = await import('connect-pg-simple')
  const pool = new pg.Pool({ connectionString, max: 20 })
  const PgStore = connectPgSimple(session)
  return { sessionStore: new PgStore({ pool, createTableIfMissing: true }), pool }
}

/** The session middleware of every app, configured as express-session's documentation recommends. */
export function sessions(store) {
  return session({ secret: 'a secret for benchmarks', resave: false, saveUninitialized: false, store })
}
