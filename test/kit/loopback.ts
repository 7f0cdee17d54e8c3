import { type AddressInfo, createServer, type Server } from 'node:net'

/** Has a server listen on a free port of 127.0.0.1, and returns the port. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Returns a port of 127.0.0.1 on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listenOnLoopback(server)
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
