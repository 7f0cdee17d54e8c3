import pg from 'pg'
import { comparison } from '../kit/comparison.mjs'
import { seed, verifications } from '../kit/people.mjs'
import { script, startPostgres } from '../kit/postgres.mjs'
import { serviceRequest, startService } from '../kit/service.mjs'
import { sideBySide } from '../kit/side-by-side.mjs'

export const title = 'The service: a verification among many users'
export const meaning =
  'Every user has an authenticator app, a challenge and failures. The cost may differ by 20 %.'

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

export async function run(bench) {
  const many = bench.isQuick ? 100_000 : 1_000_000
  const sides = [await among(bench, many), await among(bench, 1_000)]
  const measured = await sideBySide(sides, { rounds: bench.rounds, warmUpRounds: bench.warmUpRounds })
  const [ours, few] = sides.map(({ name }) => measured[name])
  return [comparison(`service: verify ${sides[0].name}`, sides[1].name, ours, few, 0.8, 'rate')]
}

async function among(bench, people) {
  const postgres = await startPostgres()
  bench.defer(postgres.stop)
  const app = await startService({ node: bench.node, postgres, env: { SERVICE_DELIVERY: 'inbox' } })
  bench.defer(app.stop)
  await script(postgres.url, crowd(people))
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
  bench.defer(() => pool.end())
  const count = 400
  await seed((text, values) => pool.query(text, values), 0, (bench.rounds + bench.warmUpRounds) * count)
  await script(postgres.url, 'VACUUM ANALYZE')
  await script(postgres.url, 'CHECKPOINT')
  let first = 0
  return {
    name: `among ${people.toLocaleString('en')} users`,
    app,
    requests() {
      const bodies = verifications(first, count)
      first += count
      return bodies.map((body) => serviceRequest(app.port, '/v1/mfa/verify', body))
    },
  }
}
