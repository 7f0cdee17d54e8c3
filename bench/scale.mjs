import pg from 'pg'
import { load } from './kit/load.mjs'
import { seed, verifications } from './kit/people.mjs'
import { script, startPostgres } from './kit/postgres.mjs'
import { startService } from './kit/server.mjs'

// What a verification costs with a thousand and with a million people, each with an app, a challenge and failures.
const [rounds = 2, requests = 10_000] = process.argv.slice(2).map(Number)

const crowd = (people) => `
  INSERT INTO account (application, account) SELECT 'default', 'crowd:' || n FROM generate_series(1, ${people}) n;
  INSERT INTO app_secret (application, account, sealed)
    SELECT 'default', 'crowd:' || n, repeat('x', 100) FROM generate_series(1, ${people}) n;
  INSERT INTO factor (application, account, factor, failures)
    SELECT 'default', 'crowd:' || n, 'PHONE:+' || n, 1 FROM generate_series(1, ${people}) n;
  INSERT INTO challenge (application, id, account, contact, type, method, purpose, digits, max_attempts, resend_at,
      created_at, expires_at, code_mac)
    SELECT 'default', 'crowd-' || n, 'crowd:' || n, '+' || n, 'PHONE', 'sms', 'sign-in', 6, 5, 0, 0, 9e15::bigint, 'x'
    FROM generate_series(1, ${people}) n;
  ANALYZE;`

for (let round = 0; round < rounds; round++) {
  for (const people of round % 2 === 0 ? [1_000, 1_000_000] : [1_000_000, 1_000]) {
    const postgres = await startPostgres()
    const service = await startService({ DATABASE_URL: postgres.url, SERVICE_DELIVERY: 'inbox' })
    const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
    await script(postgres.url, crowd(people))
    await seed((text, values) => pool.query(text, values), 0, 2 * requests)
    await script(postgres.url, 'VACUUM ANALYZE')
    await script(postgres.url, 'CHECKPOINT')
    const common = { url: service.url, path: '/v1/mfa/verify' }
    await load({ ...common, bodies: verifications(requests, requests), pids: [] })
    const pids = [service.pid, postgres.pid]
    const cost = await load({ ...common, bodies: verifications(0, requests), pids })
    console.log(JSON.stringify({ round, people, ...cost }))
    await pool.end()
    await service.stop()
    await postgres.stop()
  }
}
