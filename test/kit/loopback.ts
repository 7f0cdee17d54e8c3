import { randomInt } from 'node:crypto'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Has a server listen on a free port of 127.0.0.1, and returns the port. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/**
 * Returns a port of 127.0.0.1 on which nothing listens. It is below 32768, where Linux begins to choose ports by itself: a connection
 * of another test must not take it before the server that it is for has started.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer()
    const port = randomInt(12_000, 32_768)
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise<void>((resolve) => server.close(() => resolve()))
    return port
  }
}
