import { once } from 'node:events'
import { createServer } from 'node:net'

/** Ports of the loopback interface that nothing listens on. */
export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => server.address().port)
  for (const server of servers) server.close()
  await Promise.all(servers.map((server) => once(server, 'close')))
  return ports
}

/** A port of the loopback interface that nothing listens on. */
export async function freePort() {
  const [port] = await freePorts(1)
  return port
}
