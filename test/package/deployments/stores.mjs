import connectPgSimple from 'connect-pg-simple'
import { RedisStore } from 'connect-redis'
import session from 'express-session'
import pg from 'pg'
import { createClient } from 'redis'

/*
 * Where the app keeps everything that its processes share: sessions, what Countersign stores, and its own users. It is Redis if
 * REDIS_URL is set, and PostgreSQL otherwise.
 */
export const stores = process.env.REDIS_URL
  ? await inRedis(process.env.REDIS_URL)
  : await inPostgres(process.env.DATABASE_URL)

async function inRedis(url) {
  const redis = createClient({ url })
  redis.on('error', (error) => console.error(error.message))
  await redis.connect()
  return {
    sessions: new RedisStore({ client: redis }),
    store: { redis },
    async findUser(id) {
      const record = await redis.get(`user:${id}`)
      return record === null ? undefined : JSON.parse(record)
    },
    saveUser: (user) => redis.set(`user:${user.id}`, JSON.stringify(user)),
    close: () => redis.close(),
  }
}

async function inPostgres(url) {
  const pool = new pg.Pool({ connectionString: url })
  await pool.query('CREATE TABLE IF NOT EXISTS users (id text PRIMARY KEY, record jsonb NOT NULL)')
  const PgSession = connectPgSimple(session)
  const sessions = new PgSession({ pool, createTableIfMissing: true })
  return {
    sessions,
    store: { postgres: { pool } },
    async findUser(id) {
      const { rows } = await pool.query('SELECT record FROM users WHERE id = $1', [id])
      return rows[0]?.record
    },
    saveUser: (user) =>
      pool.query(
        'INSERT INTO users (id, record) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET record = $2',
        [user.id, user],
      ),
    async close() {
      sessions.close()
      await pool.end()
    },
  }
}
