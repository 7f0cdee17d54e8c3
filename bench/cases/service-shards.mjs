import pg from 'pg'
import { wire } from '../../dist/esm/protocol.mjs'
import { figure } from '../kit/comparison.mjs'
import { startGateway } from '../kit/gateway.mjs'
import { load } from '../kit/load.mjs'
import { seed, sends, verifications } from '../kit/people.mjs'
import { script, startPostgres } from '../kit/postgres.mjs'
import { serviceRequest, startService } from '../kit/service.mjs'
import { median, quartiles } from '../kit/statistics.mjs'

export const title = 'The service: two shards beside one'
export const meaning = `One service over one PostgreSQL, beside two shards, each a service over a PostgreSQL of its own. Each shard gets as many requests
at once as the single service, all at the same time. Capacity is what a second of processor time does, of services and databases
together: if it stays the same, shards share nothing, and twice the processors serve twice the requests. Rates would only tell how
many processors the machine has.`

const KINDS = {
  send: { path: '/v1/mfa', bodies: sends, count: 200 },
  verify: { path: '/v1/mfa/verify', bodies: verifications, count: 300, isSeeded: true },
}

/** Two databases must do at least 85 % of twice the work of one. */
const LEAST = 0.85

export async function run(bench) {
  const gateway = await startGateway()
  bench.defer(gateway.stop)
  const sides = []
  for (const [name, shards] of [
    ['one', 1],
    ['again', 1],
    ['two', 2],
  ]) {
    sides.push({ name, deployments: await startShards(bench, gateway, shards) })
  }
  const rows = []
  for (const [kind, how] of Object.entries(KINDS)) {
    const used = { one: [], again: [], two: [] }
    let first = 0
    for (let round = -bench.warmUpRounds; round < bench.rounds; round++) {
      for (const { name, deployments } of round % 2 === 0 ? sides : sides.toReversed()) {
        const us = await processorUsOf(deployments, how, first, round)
        if (round >= 0) used[name].push(us)
      }
      // Enough people that each shard has as many of them as it gets requests.
      first += peopleFor(how)
    }
    const capacities = used.one.map((us, i) => us / used.two[i])
    rows.push(
      figure(
        `service: ${kind}, capacity of a processor with two shards`,
        round2(median(capacities)),
        'of that with one',
        {
          least: LEAST,
          quartiles: quartiles(capacities).map(round2),
          sameTwice: round2(median(used.one.map((us, i) => us / used.again[i]))),
          note: `${Math.round(median(used.one))} µs for each with one shard, ${Math.round(median(used.two))} µs with two`,
        },
      ),
    )
  }
  return rows
}

async function startShards(bench, gateway, count) {
  const deployments = []
  for (let number = 1; number <= count; number++) {
    const postgres = await startPostgres()
    bench.defer(postgres.stop)
    const shard = count > 1 && { SERVICE_SHARD: `${number}/${count}` }
    const app = await startService({ node: bench.node, postgres, env: { ...gateway.env, ...shard } })
    bench.defer(app.stop)
    const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
    bench.defer(() => pool.end())
    deployments.push({ app, postgres, pool, serves: (account) => wire.shardOf(account, count) === number })
  }
  return deployments
}

function peopleFor({ count }) {
  return Math.ceil(count * 2.4)
}

/** What a request takes of the processor, in microseconds, of all services and databases. */
async function processorUsOf(deployments, how, first, round) {
  const { path, bodies, count, isSeeded } = how
  const people = bodies(first, peopleFor(how))
  const loads = []
  for (const { app, postgres, pool, serves } of deployments) {
    if (isSeeded) await seed((text, values) => pool.query(text, values), first, peopleFor(how))
    // PostgreSQL plans anew when it knows the tables, as it does by itself within minutes.
    if (isSeeded || round === -1) await script(postgres.url, 'VACUUM ANALYZE')
    const own = people.filter((body) => serves(`account:${new URLSearchParams(body).get('Account')}`))
    if (own.length < count)
      throw new Error(`Only ${own.length} of ${people.length} people belong to a shard.`)
    const requests = own.slice(0, count).map((body) => serviceRequest(app.port, path, body))
    loads.push({ port: app.port, requests })
  }
  const before = await usedBy(deployments)
  await Promise.all(loads.map(load))
  return ((await usedBy(deployments)) - before) / (count * deployments.length)
}

async function usedBy(deployments) {
  const meters = await Promise.all(deployments.map(({ app }) => app.meter()))
  return meters.reduce((sum, { processorUs, postgresUs }) => sum + processorUs + postgresUs, 0)
}

function round2(value) {
  return Math.round(value * 100) / 100
}
