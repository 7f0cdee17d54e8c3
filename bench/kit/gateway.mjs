import { once } from 'node:events'
import { createServer } from 'node:http'

/** A gateway that takes every message at once. `env` makes a service deliver to it, without a limit that a measurement would reach. */
export async function startGateway() {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    env: {
      SERVICE_DELIVERY: `http://127.0.0.1:${server.address().port}`,
      SERVICE_SENDS_PER_APPLICATION_DAY: '1000000',
    },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
