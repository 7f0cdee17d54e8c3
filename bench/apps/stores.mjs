import session, { MemoryStore } from 'express-session'

/**
 * Where an app keeps sessions and counters: in its own memory, or in Redis when `REDIS_URL` is set. `redis` is the
 * connected client then.
 */
export async function openStores() {
  const { REDIS_URL } = process.env
  if (!REDIS_URL) return { sessionStore: new MemoryStore(), redis: undefined }
  const { createClient } = await import('redis')
  const { RedisStore } = await import('connect-redis')
  const redis = await createClient({ url: REDIS_URL }).connect()
  return { sessionStore: new RedisStore({ client: redis }), redis }
}

/** The session middleware of every app, configured as express-session's documentation recommends. */
export function sessions(store) {
  return session({ secret: 'a secret for benchmarks', resave: false, saveUninitialized: false, store })
}
