import pg from 'pg'
import { load } from './kit/load.mjs'
import { seed, verifications } from './kit/people.mjs'
import { startPostgres } from './kit/postgres.mjs'
import { startBare, startService } from './kit/server.mjs'

// How many right codes a second the service verifies on PostgreSQL, beside the same service without the store call.
const [rounds = 3, requests = 20_000] = process.argv.slice(2).map(Number)
const path = '/v1/mfa/verify'

const postgres = await startPostgres()
const env = { DATABASE_URL: postgres.url, SERVICE_DELIVERY: 'inbox' }
const started = [postgres]
const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
try {
  const service = await startService(env)
  started.unshift(service)
  const bare = await startBare(env)
  started.unshift(bare)
  for (let round = -1; round < rounds; round++) {
    const first = (round + 1) * requests
    await seed((text, values) => pool.query(text, values), first, requests)
    await pool.query('VACUUM ANALYZE')
    const bodies = verifications(first, requests)
    const stored = await load({ path, bodies, url: service.url, pids: [service.pid, postgres.pid] })
    const ceiling = await load({ path, bodies, url: bare.url, pids: [bare.pid] })
    const share = `${Math.round((stored.perSecond / ceiling.perSecond) * 100)} %`
    // The first round warms both up.
    if (round >= 0) console.log(JSON.stringify({ round, share, stored, ceiling }))
  }
} finally {
  await pool.end()
  for (const one of started) await one.stop()
}
