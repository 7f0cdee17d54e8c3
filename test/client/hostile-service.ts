import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from '../kit/loopback.js'

/** The requests that reached the service. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Responds to one call; `response.socket` allows misbehavior below HTTP. */
export type Behaviour = (response: ServerResponse, call: Call) => void

export interface HostileService {
  readonly url: string
  readonly calls: Call[]
  /** Sockets that were ever opened. */
  readonly sockets: Set<Socket>
  /** Ends it before the test does. */
  close(): Promise<void>
}

/** An HTTP service on a loopback socket of its own that answers as badly as a test wants. Ends with the test. */
export async function hostileService(
  behave: Behaviour,
  tls?: { readonly key: string; readonly cert: string },
): Promise<HostileService> {
  const calls: Call[] = []
  const sockets = new Set<Socket>()
  const listener: RequestListener = (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const call = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
      calls.push(call)
      behave(response, call)
    })
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  server.on('connection', (socket: Socket) => sockets.add(socket))
  const port = await listenOnLoopback(server)
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  onTestFinished(close)
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, calls, sockets, close }
}

/** Answers with a status, a body and headers; an object is sent as JSON. */
export function answer(status: number, body: unknown = '', headers: Record<string, string> = {}): Behaviour {
  return (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = typeof body === 'string' ? {} : { 'Content-Type': 'application/json' }
    response.writeHead(status, { ...type, ...headers }).end(text)
  }
}

/** Writes these bytes on the socket instead of an HTTP answer, and hangs up. */
export function raw(bytes: string): Behaviour {
  return (response) => response.socket?.end(bytes)
}
