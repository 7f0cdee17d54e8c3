import { load } from './kit/load.mjs'
import { sends } from './kit/people.mjs'
import { startPostgres } from './kit/postgres.mjs'
import { startService } from './kit/server.mjs'

// How many codes a second the service makes and hands to the development inbox on PostgreSQL, each to somebody else.
const [rounds = 3, requests = 5_000] = process.argv.slice(2).map(Number)

const postgres = await startPostgres()
const service = await startService({
  DATABASE_URL: postgres.url,
  SERVICE_DELIVERY: 'inbox',
  SERVICE_SENDS_PER_APPLICATION_DAY: '1000000',
})
try {
  for (let round = -1; round < rounds; round++) {
    const bodies = sends((round + 1) * requests, requests)
    const pids = [service.pid, postgres.pid]
    const cost = await load({ path: '/v1/mfa', bodies, url: service.url, pids })
    // The first round warms up.
    if (round >= 0) console.log(JSON.stringify({ round, ...cost }))
  }
} finally {
  await service.stop()
  await postgres.stop()
}
