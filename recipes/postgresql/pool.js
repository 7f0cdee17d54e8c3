import pg from 'pg'

// Without these limits, a database that does not respond would keep every request waiting.
export const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  connectionTimeoutMillis: 3_000,
  query_timeout: 3_000,
})

// An idle connection that breaks emits an error, which would end the process.
pool.on('error', (error) => console.error(error.message))
