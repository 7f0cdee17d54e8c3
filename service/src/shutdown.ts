import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { CountersignService } from './service.js'

/** The duration of each phase of an orderly shutdown. */
export interface ShutdownTimes {
  /** How long `/readyz` reports that the service is not ready before the server stops accepting requests. */
  readonly drainMs: number
  /** How long requests in progress may take before their connections are closed. */
  readonly finishWithinMs: number
}

/**
 * Shuts a service down in order: `/readyz` fails while requests are still accepted, so that load balancers stop sending
 * them; then the server accepts no more requests and answers those in progress; then the service waits for messages
 * that are being handed over. Aborting `skipDrain` skips the wait for load balancers.
 */
export async function shutDown(
  server: Server,
  service: Pick<CountersignService, 'drain' | 'closeStreams' | 'close'>,
  { drainMs, finishWithinMs }: ShutdownTimes,
  skipDrain?: AbortSignal,
): Promise<void> {
  service.drain()
  await wait(drainMs, undefined, skipDrain && { signal: skipDrain }).catch(() => {})
  const closeAll = setTimeout(() => server.closeAllConnections(), finishWithinMs)
  // The server waits for open WebSockets, too.
  service.closeStreams()
  // Otherwise the server would wait for keep-alive connections that are idle.
  const closeIdle = setInterval(() => server.closeIdleConnections(), 100)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  clearInterval(closeIdle)
  clearTimeout(closeAll)
  await service.close()
}
