import pg from 'pg'
import { comparison, measure } from '../kit/comparison.mjs'
import { startCrowdedPostgres } from '../kit/crowded-postgres.mjs'
import { seed, verifications } from '../kit/people.mjs'
import { script } from '../kit/postgres.mjs'
import { serviceRequest, startService } from '../kit/service.mjs'

export const title = 'The service: a verification among many users'
export const meaning = `The users who verify are spread among the others, each of whom has five messages, every second an authenticator app and every
fourth a challenge.`

export async function run(bench) {
  const many = bench.people ?? (bench.isQuick ? 100_000 : 1_000_000)
  const [amongFew, amongAll] = [1_000, many].map((people) => `among ${people.toLocaleString('en')} users`)
  const {
    ours: few,
    again,
    measured,
  } = await measure(bench, {
    sides: [
      (name = amongFew) => among(bench, 1_000, { name }),
      () => among(bench, many, { name: amongAll, folder: bench.data }),
    ],
  })
  const rounds = { ours: measured[amongAll], theirs: few, same: [few, again] }
  return [comparison(`service: verify ${amongAll}`, amongFew, { ...rounds, by: 'rate' })]
}

async function among(bench, people, { name, folder }) {
  const postgres = await startCrowdedPostgres(people, { folder })
  bench.defer(postgres.stop)
  const app = await startService({ node: bench.node, postgres, env: { SERVICE_DELIVERY: 'inbox' } })
  bench.defer(app.stop)
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1, options: '-c search_path=mfa' })
  bench.defer(() => pool.end())
  const count = 1_000
  // Others than those of an earlier run in the same folder.
  let first = folder ? Date.now() % 50_000_000 : 0
  await seed((text, values) => pool.query(text, values), first, (bench.rounds + bench.warmUpRounds) * count)
  await script(postgres.url, 'VACUUM ANALYZE')
  await script(postgres.url, 'CHECKPOINT')
  return {
    name,
    app,
    requests() {
      const bodies = verifications(first, count)
      first += count
      return bodies.map((body) => serviceRequest(app.port, '/v1/mfa/verify', body))
    },
  }
}
