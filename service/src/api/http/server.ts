import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ServiceProblemCode } from 'countersign/protocol'
import { limitBodyTime } from './body-limit.js'
import { type ProblemDetails, problemBody } from './problem.js'
import { PROBLEMS } from './problem-catalogue.js'

const MAX_HEADER_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
// Longer than load balancers keep connections open: the side that sends the next request must close first.
const KEEP_ALIVE_MS = 65_000

/** An HTTP server that also answers invalid HTTP with a problem, and closes connections of clients that send too slowly. */
export function apiServer(listener: RequestListener, publicUrl?: string): Server {
  const api = limitBodyTime(listener, (socket) => respondOnSocket(socket, 'request_timeout', publicUrl))
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      // Each body has a limit of its own.
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 5_000,
      // Node would respond without a body; the API refuses a request without Host itself.
      requireHostHeader: false,
    },
    api,
  )
  // An `Expect` header other than `100-continue` does not change the response.
  server.on('checkExpectation', api)
  server.on('connect', (_request, socket) => {
    // Node removes its own handlers from the socket, so nothing else handles its errors.
    socket.on('error', () => socket.destroy())
    respondOnSocket(socket, 'method_not_allowed', publicUrl, { headers: ['Allow: GET, HEAD, POST'] })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else {
      const code = findProblemCode(error.code)
      respondOnSocket(socket, code, publicUrl, code === 'invalid_request' ? { errors: [INVALID_HEAD] } : {})
    }
  })
  return server
}

/** Accepts `max` connections, so that files are left for the service. When all are in use, idle ones are closed and `onFull` is called. */
export function limitConnections(server: Server, max: number, onFull: () => void): void {
  let open = 0
  server.maxConnections = max
  server.on('connection', (socket) => {
    open++
    socket.once('close', () => open--)
    if (open >= max) server.closeIdleConnections()
  })
  server.on('drop', onFull)
}

const CONSOLE = /^\/console(?:[/?]|$)/

/** The API and, at `/console`, the console on one server. */
export function addConsole(api: RequestListener, console: RequestListener): RequestListener {
  return function route(request, response) {
    const handler = CONSOLE.test(request.url ?? '') ? console : api
    handler(request, response)
  }
}

const INVALID_HEAD = { field: 'head', detail: 'is not valid HTTP/1.1 (RFC 9112)' }

function findProblemCode(errorCode: string | undefined): ServiceProblemCode {
  if (errorCode === 'HPE_HEADER_OVERFLOW') return 'head_too_large'
  return errorCode === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'invalid_request'
}

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
