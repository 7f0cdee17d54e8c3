import pg from 'pg'
import { comparison } from '../kit/comparison.mjs'
import { startCrowdedPostgres } from '../kit/crowded-postgres.mjs'
import { seed, verifications } from '../kit/people.mjs'
import { script } from '../kit/postgres.mjs'
import { serviceRequest, startService } from '../kit/service.mjs'
import { sideBySide } from '../kit/side-by-side.mjs'

export const title = 'The service: a verification among many users'
export const meaning = `The users who verify are spread among the others, each of whom has five messages, every second an authenticator app and every
fourth a challenge. The cost may differ by 20 %.`

export async function run(bench) {
  const many = bench.people ?? (bench.isQuick ? 100_000 : 1_000_000)
  const sides = [await among(bench, many, bench.data), await among(bench, 1_000)]
  const measured = await sideBySide(sides, { rounds: bench.rounds, warmUpRounds: bench.warmUpRounds })
  const [ours, few] = sides.map(({ name }) => measured[name])
  return [comparison(`service: verify ${sides[0].name}`, sides[1].name, ours, few, 0.8, 'rate')]
}

async function among(bench, people, folder) {
  const postgres = await startCrowdedPostgres(people, { folder })
  bench.defer(postgres.stop)
  const app = await startService({ node: bench.node, postgres, env: { SERVICE_DELIVERY: 'inbox' } })
  bench.defer(app.stop)
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
  bench.defer(() => pool.end())
  const count = 1_000
  // Others than those of an earlier run in the same folder.
  let first = folder ? Date.now() % 50_000_000 : 0
  await seed((text, values) => pool.query(text, values), first, (bench.rounds + bench.warmUpRounds) * count)
  await script(postgres.url, 'VACUUM ANALYZE')
  await script(postgres.url, 'CHECKPOINT')
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
