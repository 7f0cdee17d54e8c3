import { createServer } from 'node:http'
import { load } from './kit/load.mjs'
import { sends } from './kit/people.mjs'
import { script, startPostgres } from './kit/postgres.mjs'
import { startService } from './kit/server.mjs'

// How many codes a second the service makes on PostgreSQL, each for somebody else, and hands to a gateway beside it.
const [rounds = 3, requests = 5_000] = process.argv.slice(2).map(Number)

const gateway = createServer((request, response) => request.resume().on('end', () => response.end()))
await new Promise((resolve) => gateway.listen(0, '127.0.0.1', resolve))
const postgres = await startPostgres()
const service = await startService({
  DATABASE_URL: postgres.url,
  SERVICE_DELIVERY: `http://127.0.0.1:${gateway.address().port}`,
  SERVICE_SENDS_PER_APPLICATION_DAY: '1000000',
})
try {
  for (let round = -1; round < rounds; round++) {
    const bodies = sends((round + 1) * requests, requests)
    const pids = [service.pid, postgres.pid]
    const cost = await load({ path: '/v1/mfa', bodies, url: service.url, pids })
    // The first round warms up; then PostgreSQL plans anew, as it does by itself within minutes.
    if (round >= 0) console.log(JSON.stringify({ round, ...cost }))
    else await script(postgres.url, 'VACUUM ANALYZE')
  }
} finally {
  await service.stop()
  await postgres.stop()
  gateway.closeAllConnections()
  gateway.close()
}
