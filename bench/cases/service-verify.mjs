import pg from 'pg'
import { buildBaseline } from '../kit/baseline.mjs'
import { comparison, figure } from '../kit/comparison.mjs'
import { startPostgres } from '../kit/postgres.mjs'
import { ROOT, serviceRequest, startService } from '../kit/service.mjs'
import { medians, sideBySide } from '../kit/side-by-side.mjs'

export const title = 'The service: verifications on PostgreSQL'
export const meaning = `Each user has signed in before, has a challenge of their own and gives the right code. PostgreSQL has its own settings, so
every commit reaches the disk. The other side is the same service whose statement that judges a code is answered without
asking PostgreSQL: what HTTP, the API and its checks cost alone.`

const PATH = '/v1/mfa/verify'

export async function run(bench) {
  const sides = [await sideOf(bench, 'countersign', { root: ROOT })]
  sides.push(await sideOf(bench, 'the service without its store call', { root: ROOT, withoutStore: true }))
  if (bench.baseline) {
    const { root, remove } = buildBaseline(bench.baseline)
    bench.defer(remove)
    sides.push(await sideOf(bench, `the service at ${bench.baseline}`, { root }))
  }
  const measured = await sideBySide(sides, { rounds: bench.rounds, warmUpRounds: bench.warmUpRounds })
  const [ours, bare, baseline] = sides.map(({ name }) => measured[name])
  const what = 'service: verify on PostgreSQL'
  const { perSecond, p99Ms, postgresUs } = medians(ours)
  return [
    {
      ...comparison(what, sides[1].name, ours, bare, 0.7, 'rate'),
      note: `PostgreSQL uses ${Math.round(postgresUs)} µs`,
    },
    // 2,500 a second where the first release makes 1,900.
    ...(baseline ? [comparison(what, sides[2].name, ours, baseline, 1.32, 'rate')] : []),
    figure(`${what}, rate`, Math.round(perSecond), '/s'),
    figure(`${what}, p99`, Math.round(p99Ms), 'ms', { most: 50 }),
  ]
}

async function sideOf(bench, name, { root, withoutStore }) {
  const postgres = await startPostgres()
  bench.defer(postgres.stop)
  const app = await startService({
    node: bench.node,
    root,
    withoutStore,
    postgres,
    env: { SERVICE_DELIVERY: 'inbox' },
  })
  bench.defer(app.stop)
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
  bench.defer(() => pool.end())
  // Each commit writes its own tables.
  const { seed, verifications } = await import(`${root}/bench/kit/people.mjs`)
  const count = 2_000
  let first = 0
  return {
    name,
    app,
    async requests() {
      if (!withoutStore) {
        await seed((text, values) => pool.query(text, values), first, count)
        await pool.query('VACUUM ANALYZE')
      }
      const bodies = verifications(first, count)
      first += count
      return bodies.map((body) => serviceRequest(app.port, PATH, body))
    },
  }
}
