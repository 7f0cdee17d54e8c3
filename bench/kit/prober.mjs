import { requestFrom } from './browsers.mjs'
import { openConnection } from './http-client.mjs'
import { percentile } from './statistics.mjs'

/** Loads a page every `everyMs` over a connection of its own, and tells how long that took. */
export async function probePage(browser, path, everyMs = 50) {
  const connection = await openConnection(browser.port)
  const bytes = requestFrom(browser, { path })
  let latencies = []
  let isStopped = false
  const probing = (async () => {
    while (!isStopped) {
      const began = performance.now()
      const { status } = await connection.send(bytes)
      if (status !== 200) throw new Error(`Expected the page, got status ${status}.`)
      latencies.push(performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  })()
  return {
    /** The latencies since the last call. */
    take() {
      const sorted = Float64Array.from(latencies).sort()
      latencies = []
      return { count: sorted.length, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) }
    },
    async stop() {
      isStopped = true
      await probing
      connection.close()
    },
  }
}
