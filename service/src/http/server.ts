import { createServer, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ServiceProblemCode } from 'countersign/protocol'
import type { Express } from 'express'
import { problemBody } from './problem.js'
import { PROBLEMS } from './problem-catalogue.js'

const MAX_HEAD_BYTES = 16 * 1024
const HEAD_WITHIN_MS = 10_000
const REQUEST_WITHIN_MS = 20_000
// Longer than load balancers keep theirs open: who closes first must be the one that would send the next request.
const KEPT_OPEN_MS = 65_000
// For reading what was answered.
const HALF_OPEN_MS = 1_000

/**
 * An HTTP server for the API. What is too broken to be a request at all is answered by a problem as well, and who
 * sends slowly is not waited for.
 */
export function apiServer(api: Express, publicUrl?: string): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: HEAD_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      keepAliveTimeout: KEPT_OPEN_MS,
      connectionsCheckingInterval: 5_000,
      // Node would answer without a word; the API itself refuses what has no Host.
      requireHostHeader: false,
    },
    api,
  )
  // An expectation that is not `100-continue` is no reason to answer otherwise.
  server.on('checkExpectation', api)
  server.on('connect', (_request, socket) => {
    // Node lets go of the socket here: nobody else hears its errors.
    socket.on('error', () => socket.destroy())
    refuse(socket, 'method_not_allowed', publicUrl)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else refuse(socket, codeOf(error.code), publicUrl)
  })
  return server
}

function codeOf(code: string | undefined): ServiceProblemCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'head_too_large'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'invalid_request'
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function refuse(socket: Duplex, code: ServiceProblemCode, publicUrl = ''): void {
  const { status } = PROBLEMS[code]
  const errors =
    code === 'invalid_request' ? [{ field: 'head', detail: 'is not HTTP/1.1 as RFC 9112 has it' }] : undefined
  const body = JSON.stringify(problemBody(code, publicUrl, { ...(errors && { errors }) }))
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? ''}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
    ...(code === 'method_not_allowed' ? ['Allow: GET, HEAD, POST'] : []),
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // Nobody else closes it: whoever kept their own side open would have the connection for good.
  setTimeout(() => socket.destroy(), HALF_OPEN_MS).unref()
}
