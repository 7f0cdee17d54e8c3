import pg from 'pg'
import { load } from './kit/load.mjs'
import { seed, verifications } from './kit/people.mjs'
import { startPostgres } from './kit/postgres.mjs'
import { startBare, startService } from './kit/server.mjs'

// How many right codes a second the service verifies on PostgreSQL, beside the same app without a store.
const [rounds = 3, seconds = 8] = process.argv.slice(2).map(Number)
const enough = seconds * 8_000

const postgres = await startPostgres()
const service = await startService({ DATABASE_URL: postgres.url, SERVICE_DELIVERY: 'inbox' })
const bare = await startBare()
const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
const query = (text, values) => pool.query(text, values)
try {
  const warmth = { path: '/v1/mfa/verify', seconds: 2 }
  await seed(query, 90_000_000, 16_000)
  await load({ ...warmth, url: service.url, bodies: verifications(90_000_000, 16_000), pids: [] })
  await load({ ...warmth, url: bare.url, bodies: verifications(90_000_000, 60_000), pids: [] })
  for (let round = 0; round < rounds; round++) {
    const first = round * enough
    await seed(query, first, enough)
    await query('ANALYZE')
    const bodies = verifications(first, enough)
    const common = { path: '/v1/mfa/verify', bodies, seconds }
    const stored = await load({ ...common, url: service.url, pids: [service.pid, postgres.pid] })
    const ceiling = await load({ ...common, url: bare.url, pids: [bare.pid] })
    const share = Math.round((stored.perSecond / ceiling.perSecond) * 100)
    console.log(JSON.stringify({ round, stored, ceiling, share: `${share} %` }))
  }
} finally {
  await pool.end()
  await bare.stop()
  await service.stop()
  await postgres.stop()
}
