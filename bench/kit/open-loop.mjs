import { keepCookies, requestFrom } from './browsers.mjs'
import { openConnection } from './http-client.mjs'
import { percentile } from './statistics.mjs'

const TICK_MS = 5

/**
 * Sends requests at a rate that does not wait for answers, as users do. Each goes out from a browser that waits for
 * nothing, over its own connection; a request for which no browser is free is not sent, and counted as `notSent`.
 * @returns the count and the latencies in milliseconds of each status, `failed` connections, and `withoutRetryAfter`: how many
 * 503 did not say when to come back.
 */
export async function openLoop({ browsers, message, perSecond, seconds }) {
  const free = browsers.map((browser) => ({ browser, connection: undefined }))
  await connectAll(free)
  const latencies = new Map()
  const underway = new Set()
  let arrived = 0
  let notSent = 0
  let failed = 0
  let withoutRetryAfter = 0

  const send = async (one) => {
    const began = performance.now()
    try {
      one.connection ??= await openConnection(one.browser.port)
      const response = await one.connection.send(requestFrom(one.browser, message(one.browser)))
      keepCookies(one.browser.cookies, response)
      if (response.status === 503 && !/\r\nretry-after: \d/i.test(response.head)) withoutRetryAfter++
      const ofStatus = latencies.get(response.status) ?? []
      latencies.set(response.status, ofStatus)
      ofStatus.push(performance.now() - began)
    } catch {
      failed++
      one.connection?.close()
      one.connection = undefined
    }
    free.push(one)
  }

  const began = performance.now()
  await new Promise((resolve) => {
    const timer = setInterval(() => {
      const elapsed = (performance.now() - began) / 1000
      const due = Math.floor(Math.min(elapsed, seconds) * perSecond)
      for (; arrived < due; arrived++) {
        // The longest idle one, so that all take their turn.
        const one = free.shift()
        if (!one) {
          notSent++
          continue
        }
        const sent = send(one).finally(() => underway.delete(sent))
        underway.add(sent)
      }
      if (elapsed < seconds) return
      clearInterval(timer)
      resolve()
    }, TICK_MS)
  })
  await Promise.all(underway)
  for (const { connection } of free) connection?.close()
  const statuses = Object.fromEntries([...latencies].map(([status, list]) => [status, summary(list)]))
  return { arrived, notSent, failed, withoutRetryAfter, statuses }
}

/** Connects some at a time: a server's queue of new connections is short, and those that it drops wait for seconds. */
async function connectAll(all) {
  for (let from = 0; from < all.length; from += 100) {
    await Promise.all(
      all.slice(from, from + 100).map(async (one) => {
        one.connection = await openConnection(one.browser.port)
      }),
    )
  }
}

function summary(list) {
  const sorted = Float64Array.from(list).sort()
  return { count: sorted.length, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) }
}
