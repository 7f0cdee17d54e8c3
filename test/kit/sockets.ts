import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http'
import type { Express as App } from 'express'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from './loopback.js'

/** A response that was read from a socket. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  /** The JSON in it, if it is JSON. */
  readonly body: Record<string, unknown>
}

/** Starts the app on a free port until the end of the test, and returns the port. */
export async function listen(app: App): Promise<number> {
  const server = createServer(app)
  const port = await listenOnLoopback(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return port
}

/** Sends the start of a request; `finish` sends the rest and waits for the response. */
export function begin(
  port: number,
  {
    method = 'POST',
    path,
    headers = {},
  }: { method?: string; path: string; headers?: Record<string, string> },
) {
  let sent: ClientRequest | undefined
  const answer = new Promise<Answer>((resolve, reject) => {
    sent = request({
      port,
      host: '127.0.0.1',
      method,
      path,
      headers: { Accept: 'application/json', ...headers },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        const json = /json/.test(response.headers['content-type'] ?? '')
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: json ? JSON.parse(text) : {},
        })
      })
    })
    sent.flushHeaders()
  })
  return {
    answer,
    write: (part: string) => sent?.write(part),
    abort: () => sent?.destroy(),
    finish: (part = '') => {
      sent?.end(part)
      return answer
    },
  }
}

/** Posts JSON over a separate socket. */
export function postJson(port: number, path: string, body: unknown, cookie = ''): Promise<Answer> {
  const text = JSON.stringify(body)
  return begin(port, {
    path,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(text)),
      ...(cookie && { Cookie: cookie }),
    },
  }).finish(text)
}
