import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { CountersignService } from './service.js'

/** How long each part of an orderly end may take. */
export interface ShutdownTimes {
  /** `/readyz` is red that long before the server stops taking requests. */
  readonly drainMs: number
  /** Requests that were begun get that long to be answered; then their connections are cut. */
  readonly finishWithinMs: number
}

/**
 * Ends a service in good order: `/readyz` goes red while requests are still taken, so that load balancers look
 * elsewhere, then the server takes no more and answers those it has, then messages that are being handed over are
 * waited for. When `patience` is aborted nobody waits for load balancers.
 */
export async function shutDown(
  server: Server,
  service: Pick<CountersignService, 'drain' | 'close'>,
  { drainMs, finishWithinMs }: ShutdownTimes,
  patience?: AbortSignal,
): Promise<void> {
  service.drain()
  await wait(drainMs, undefined, patience && { signal: patience }).catch(() => {})
  const cut = setTimeout(() => server.closeAllConnections(), finishWithinMs)
  // A connection that is kept open after its last answer would be waited for.
  const letGo = setInterval(() => server.closeIdleConnections(), 100)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  clearInterval(letGo)
  clearTimeout(cut)
  await service.close()
}
