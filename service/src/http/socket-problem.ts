import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ServiceProblemCode } from 'countersign/protocol'
import { type ProblemDetails, problemBody } from './problem.js'
import { PROBLEMS } from './problem-catalogue.js'

// Time for the client to read the response.
const HALF_OPEN_MS = 1_000

/** Responds with a problem on the socket of a request that the API does not handle, and closes the connection. */
export function respondOnSocket(
  socket: Duplex,
  code: ServiceProblemCode,
  publicUrl = '',
  more: ProblemDetails & { readonly headers?: readonly string[] } = {},
): void {
  const { status } = PROBLEMS[code]
  const { headers = [], ...details } = more
  const body = JSON.stringify(problemBody(code, publicUrl, details))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
    ...(details.retryAfterSeconds === undefined ? [] : [`Retry-After: ${details.retryAfterSeconds}`]),
    ...headers,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // Otherwise a client that does not close its side would keep the connection forever.
  setTimeout(() => socket.destroy(), HALF_OPEN_MS).unref()
}
