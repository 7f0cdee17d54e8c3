import { buildBaseline } from '../kit/baseline.mjs'
import { comparison, figure, measure } from '../kit/comparison.mjs'
import { delayingProxy } from '../kit/delaying-proxy.mjs'
import { startGateway } from '../kit/gateway.mjs'
import { load } from '../kit/load.mjs'
import { script, startPostgres, writesDuring } from '../kit/postgres.mjs'
import { ROOT, serviceRequest, startService } from '../kit/service.mjs'
import { medians } from '../kit/side-by-side.mjs'

export const title = 'The service: codes sent on PostgreSQL'
export const meaning = `Each code is for another user, is written to the outbox and handed to a gateway that takes it at once. Round trips are told
by holding each answer of PostgreSQL up for 40 ms. Processor time is that of all processes of PostgreSQL, also of those that ended. What a
code writes is read from PostgreSQL's journal. By hand, an Express app counts the user's codes and writes one to a table, has the gateway
take it and writes that it was sent: two statements, one limit and no outbox.`

const PATH = '/v1/mfa'
const BY_HAND = 'bench/apps/send-by-hand.mjs'
const BY_HAND_NAME = 'an app by hand'
const DELAY_MS = 40
/** Milliseconds of processor time that a code may cost the service and PostgreSQL. */
const MOST_MS = 0.6
const MOST_POSTGRES_MS = 0.35

export async function run(bench) {
  const gateway = await startGateway()
  bench.defer(gateway.stop)
  const started = new Map()
  const start = async (name, root, program) => {
    const side = await sideOf(bench, gateway, name, { root, program })
    started.set(name, side)
    return side
  }
  const sides = [(name = 'countersign') => start(name, ROOT), () => start(BY_HAND_NAME, ROOT, BY_HAND)]
  const baseline = bench.baseline && `the service at ${bench.baseline}`
  if (baseline) {
    const { root, remove } = buildBaseline(bench.baseline)
    bench.defer(remove)
    sides.push(() => start(baseline, root))
  }
  const { ours, again, measured } = await measure(bench, { sides })
  const what = 'service: send on PostgreSQL'
  const { perSecond, p99Ms, postgresUs } = medians(ours)
  const byHand = measured[BY_HAND_NAME]
  const note = `PostgreSQL uses ${Math.round(postgresUs)} µs, beside ${Math.round(medians(byHand).postgresUs)} µs`
  return [
    comparison(what, BY_HAND_NAME, { ours, again, theirs: byHand, note }),
    ...(baseline
      ? [
          comparison(what, baseline, { ours, again, theirs: measured[baseline], by: 'rate' }),
          ...costs(`${what}, at ${bench.baseline}`, medians(measured[baseline])),
          ...written(`${what}, at ${bench.baseline}`, await started.get(baseline).writes()),
        ]
      : []),
    figure(`${what}, rate`, Math.round(perSecond), '/s', { note: `p99 ${Math.round(p99Ms)} ms` }),
    ...costs(what, medians(ours), { processor: MOST_MS, postgres: MOST_POSTGRES_MS }),
    ...written(what, await started.get('countersign').writes()),
    figure(`${what}, round trips in a row`, await roundTrips(bench, gateway), '', { most: 3 }),
  ]
}

async function sideOf(bench, gateway, name, { root, program }) {
  const postgres = await startPostgres()
  bench.defer(postgres.stop)
  const app = await startService({ node: bench.node, root, program, postgres, env: gateway.env })
  bench.defer(app.stop)
  const { sends } = await import(`${root}/bench/kit/people.mjs`)
  const count = 500
  let first = 0
  const next = () => {
    const bodies = sends(first, count)
    first += count
    return bodies.map((body) => serviceRequest(app.port, PATH, body))
  }
  return {
    name,
    app,
    async requests(round) {
      // PostgreSQL plans anew when it knows the tables, as it does by itself within minutes.
      if (round === -1) await script(postgres.url, 'VACUUM ANALYZE')
      return next()
    },
    /** What one code writes to PostgreSQL. */
    async writes() {
      const sum = await writesDuring(postgres.url, () => load({ port: app.port, requests: next() }))
      return Object.fromEntries(Object.entries(sum).map(([what, all]) => [what, all / count]))
    },
  }
}

function costs(what, { processorUs, postgresUs }, most = {}) {
  const inMs = (us) => Number((us / 1000).toFixed(3))
  return [
    figure(`${what}, processor time of the service`, inMs(processorUs), 'ms', { most: most.processor }),
    figure(`${what}, processor time of PostgreSQL`, inMs(postgresUs), 'ms', { most: most.postgres }),
  ]
}

function written(what, { bytes, indexEntries, rows, hotUpdates, otherUpdates }) {
  const one = (value) => Number(value.toFixed(1))
  return [
    figure(`${what}, index entries`, one(indexEntries), '', {
      note: `${one(rows)} rows; ${one(hotUpdates)} updates without index entries, ${one(otherUpdates)} with them`,
    }),
    figure(`${what}, journal`, one(bytes / 1024), 'KB'),
  ]
}

async function roundTrips(bench, gateway) {
  const postgres = await startPostgres()
  bench.defer(postgres.stop)
  const proxy = await delayingProxy(postgres.port)
  bench.defer(proxy.stop)
  const url = new URL(postgres.url)
  url.port = String(proxy.port)
  const app = await startService({ node: bench.node, env: { ...gateway.env, DATABASE_URL: url.href } })
  bench.defer(app.stop)
  const { sends } = await import('../kit/people.mjs')
  const requests = sends(0, 60).map((body) => serviceRequest(app.port, PATH, body))
  const fastest = async (from, to) => {
    const { latencies } = await load({ port: app.port, requests: requests.slice(from, to), connections: 1 })
    return latencies[0]
  }
  await fastest(0, 50)
  const plainMs = await fastest(50, 55)
  proxy.setDelay(DELAY_MS)
  const delayedMs = await fastest(55, 60)
  proxy.setDelay(0)
  return Math.round((delayedMs - plainMs) / DELAY_MS)
}
