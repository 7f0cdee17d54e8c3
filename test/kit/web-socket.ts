import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { listenOnLoopback } from './loopback.js'

/** Answers an upgrade request: `accept` completes the handshake and says hello, anything else is written and ends the socket. */
export type OnUpgrade = (
  req: IncomingMessage,
  accept: () => WebSocket,
  socket: Duplex,
) => Promise<unknown> | unknown

/** Serves an app with WebSockets until the end of the test, and returns the port. */
export async function serveWithSockets(app: RequestListener, onUpgrade: OnUpgrade): Promise<number> {
  const server = createServer(app)
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (req, socket, head) => {
    const accept = () => {
      let opened: WebSocket | undefined
      sockets.handleUpgrade(req, socket, head, (one) => {
        opened = one
        one.send('hello')
      })
      if (!opened) throw new Error('ws did not complete the handshake')
      return opened
    }
    Promise.resolve(onUpgrade(req, accept, socket)).catch((error: { code?: string }) =>
      socket.end(`HTTP/1.1 500 Internal Server Error\r\nX-Failure: ${error.code ?? String(error)}\r\n\r\n`),
    )
  })
  const port = await listenOnLoopback(server)
  onTestFinished(() => {
    for (const one of sockets.clients) one.terminate()
    server.closeAllConnections()
    server.close()
  })
  return port
}

/** The result of an attempt to connect: the status of the response, and the problem code or the failure in it. */
export interface Attempt {
  readonly status: number
  readonly code?: string
  readonly socket?: WebSocket
}

/** Connects as a browser with this cookie does. Status 101 means that the server said hello. */
export function connect(
  port: number,
  cookie: string,
  headers: Record<string, string> = {},
): Promise<Attempt> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, {
    headers: { ...(cookie && { Cookie: cookie }), ...headers },
  })
  onTestFinished(() => socket.terminate())
  return new Promise((resolve, reject) => {
    socket.once('message', () => resolve({ status: 101, socket }))
    socket.once('error', reject)
    socket.once('unexpected-response', (_req, res) => {
      let text = ''
      res.setEncoding('utf8')
      res.on('data', (part: string) => {
        text += part
      })
      res.on('end', () => {
        const failure = res.headers['x-failure']
        const code = text ? JSON.parse(text).code : failure
        resolve({ status: res.statusCode ?? 0, ...(code && { code }) })
      })
    })
  })
}
