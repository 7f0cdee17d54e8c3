import pg from 'pg'
import { buildBaseline } from '../kit/baseline.mjs'
import { comparison, figure, measure } from '../kit/comparison.mjs'
import { startPostgres } from '../kit/postgres.mjs'
import { ROOT, serviceRequest, startService } from '../kit/service.mjs'
import { medians } from '../kit/side-by-side.mjs'

export const title = 'The service: verifications on PostgreSQL'
export const meaning = `Each user has signed in before, has a challenge of their own and gives the right code. PostgreSQL has its own settings, so
every commit reaches the disk. The other side is the same service whose statement that judges a code is answered without
asking PostgreSQL: what HTTP, the API and its checks cost alone.`

const PATH = '/v1/mfa/verify'
const WITHOUT_STORE = 'bench/apps/service-without-store.mjs'

export async function run(bench) {
  const bare = 'the service without its store call'
  const baseline = bench.baseline && `the service at ${bench.baseline}`
  const sides = [
    (name = 'countersign') => sideOf(bench, name, { root: ROOT }),
    () => sideOf(bench, bare, { root: ROOT, program: WITHOUT_STORE }),
  ]
  if (baseline) {
    const { root, remove } = buildBaseline(bench.baseline)
    bench.defer(remove)
    sides.push(() => sideOf(bench, baseline, { root }))
  }
  const { ours, again, measured } = await measure(bench, { sides })
  const what = 'service: verify on PostgreSQL'
  const { perSecond, p99Ms, postgresUs } = medians(ours)
  const beside = (name, options) =>
    comparison(what, name, { ours, again, theirs: measured[name], ...options })
  return [
    beside(bare, { isPart: true, note: `PostgreSQL uses ${Math.round(postgresUs)} µs` }),
    ...(baseline ? [beside(baseline)] : []),
    figure(`${what}, rate`, Math.round(perSecond), '/s'),
    figure(`${what}, p99`, Math.round(p99Ms), 'ms'),
  ]
}

async function sideOf(bench, name, { root, program }) {
  const postgres = await startPostgres()
  bench.defer(postgres.stop)
  const app = await startService({
    node: bench.node,
    root,
    program,
    postgres,
    env: { SERVICE_DELIVERY: 'inbox' },
  })
  bench.defer(app.stop)
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1, options: '-c search_path=mfa' })
  bench.defer(() => pool.end())
  // Each commit writes its own tables.
  const { seed, verifications } = await import(`${root}/bench/kit/people.mjs`)
  const count = 1_000
  let first = 0
  return {
    name,
    app,
    async requests() {
      if (program !== WITHOUT_STORE) {
        await seed((text, values) => pool.query(text, values), first, count)
        await pool.query('VACUUM ANALYZE')
      }
      const bodies = verifications(first, count)
      first += count
      return bodies.map((body) => serviceRequest(app.port, PATH, body))
    },
  }
}
