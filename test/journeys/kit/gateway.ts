import { createServer } from 'node:http'
import { listenOnLoopback } from '../../kit/loopback.js'

/** A message gateway of a host, whose responses the test sets. */
export interface Gateway {
  /** For `SERVICE_DELIVERY`. */
  readonly url: string
  /** Sets the status of its responses: 200 accepts a message, 503 is an outage, 422 refuses the contact. */
  answer(status: number): void
  close(): Promise<void>
}

/** Opens a gateway that accepts every message. */
export async function openGateway(): Promise<Gateway> {
  let status = 200
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end())
  })
  const port = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}`,
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
