import autocannon from 'autocannon'
import { API_KEY, processorMs } from './server.mjs'

/** Posts each body once, over `connections` sockets, and tells what it cost. `pids` are the processes to watch. */
export async function load({ url, path, bodies, connections = 32, pids }) {
  let next = 0
  const before = pids.map(processorMs)
  const own = process.cpuUsage()
  const begun = performance.now()
  let ended = begun
  const running = autocannon({
    url,
    connections,
    amount: bodies.length,
    requests: [
      {
        method: 'POST',
        path,
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        setupRequest: (request) => ({ ...request, body: bodies[next++ % bodies.length] }),
      },
    ],
  })
  // autocannon itself ends at the next full second.
  running.on('response', () => (ended = performance.now()))
  const result = await running
  const after = pids.map(processorMs)
  const { user, system } = process.cpuUsage(own)
  if (result.non2xx > 0)
    throw new Error(`${result.non2xx} answers were refusals: this measures something else.`)
  const requests = result.requests.total
  return {
    perSecond: Math.round(requests / ((ended - begun) / 1000)),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    errors: result.errors + result.timeouts,
    processorUs: after.map((ms, i) => Math.round(((ms - before[i]) / requests) * 1000)),
    generatorUs: Math.round((user + system) / requests),
  }
}
