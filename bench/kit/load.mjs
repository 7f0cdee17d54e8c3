import { openConnection } from './http-client.mjs'
import { percentile } from './statistics.mjs'

/**
 * Sends each request once, over `connections` connections that are kept alive, and has `check` look at each response:
 * what it throws ends the run, so that a wrong answer is never measured. The connections are open before the clock
 * starts. `meter` reads what the server has used so far, by name and in microseconds, before and after; the result has
 * what a request used, by the same names. With `staysAwake`, this process does not sleep until the end: a server pays for waking the
 * process that it responds to, the more often the slower it is.
 */
export async function load({
  port,
  requests,
  connections = 16,
  check = expectOk,
  meter = async () => ({}),
  staysAwake = false,
}) {
  const open = await Promise.all(
    Array.from({ length: Math.min(connections, requests.length) }, () => openConnection(port)),
  )
  const latencies = new Float64Array(requests.length)
  const responses = new Array(requests.length)
  let next = 0
  let isOver = false
  const stayAwake = () => {
    if (!isOver) setImmediate(stayAwake)
  }
  const work = async (connection) => {
    while (next < requests.length) {
      const i = next++
      const sent = performance.now()
      const response = await connection.send(requests[i])
      latencies[i] = performance.now() - sent
      check(response, i)
      responses[i] = response
    }
  }
  try {
    if (staysAwake) stayAwake()
    const usedBefore = await meter()
    const began = performance.now()
    await Promise.all(open.map(work))
    const seconds = (performance.now() - began) / 1000
    const usedAfter = await meter()
    latencies.sort()
    const used = Object.entries(usedAfter).map(([name, us]) => [
      name,
      (us - usedBefore[name]) / requests.length,
    ])
    return {
      responses,
      latencies,
      ...Object.fromEntries(used),
      perSecond: requests.length / seconds,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
    }
  } finally {
    isOver = true
    for (const connection of open) connection.close()
  }
}

/** Throws unless the response has status 200. */
export function expectOk({ status, body }) {
  if (status !== 200) throw new Error(`Expected status 200, got ${status}: ${body.slice(0, 300)}`)
}

/** A check that the response has status 200 and a body that contains `text`. */
export function expectText(text) {
  return (response) => {
    expectOk(response)
    if (!response.body.includes(text)) {
      throw new Error(`Expected a body with ${JSON.stringify(text)}, got ${response.body.slice(0, 300)}`)
    }
  }
}
