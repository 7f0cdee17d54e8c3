import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { CountersignService } from './service.js'

const STOP_WITHIN_MS = 10_000

/**
 * Ends the process in good order: `/readyz` goes red and stays so for `drainSeconds` while requests are still taken,
 * then the server takes no more and answers those it has, then messages that are being handed over are waited for.
 * After ten more seconds whoever is not done is cut off. An impatient second call does not wait for `/readyz`.
 */
export function stopper(
  server: Server,
  service: Pick<CountersignService, 'drain' | 'close'>,
  drainSeconds: number,
): (options?: { readonly atOnce?: boolean }) => void {
  const patience = new AbortController()
  let stopping = false

  async function stop(): Promise<void> {
    service.drain()
    await wait(drainSeconds * 1000, undefined, { signal: patience.signal }).catch(() => {})
    // A connection that is stuck must not keep the process.
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref()
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeIdleConnections()
    })
    await service.close()
  }

  return ({ atOnce = false } = {}) => {
    if (stopping || atOnce) patience.abort()
    if (stopping) return
    stopping = true
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
}
