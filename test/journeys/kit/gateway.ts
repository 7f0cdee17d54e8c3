import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Takes messages as a host's own gateway does, in the way that the test wants. */
export interface Gateway {
  /** For `SERVICE_DELIVERY`. */
  readonly url: string
  /** The status with which it answers from now on: 200 takes a message, 503 is down, 422 knows nobody there. */
  answer(status: number): void
  close(): Promise<void>
}

/** A gateway that takes every message. */
export async function openGateway(): Promise<Gateway> {
  let status = 200
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer(next) {
      status = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
