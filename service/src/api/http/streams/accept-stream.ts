import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ServiceProblemCode } from 'countersign/protocol'
import { streamWire } from 'countersign/speech'
import { WebSocketServer } from 'ws'
import type { FlowContext } from '../../../flows/context.js'
import { liveUnavailable } from '../../../flows/transcribe-live.js'
import { describeError } from '../../../telemetry/log/logger.js'
import { redeemTicket } from '../../../transcription/tickets.js'
import type { RequestObserver } from '../../metrics/event-metrics.js'
import type { ApiParts } from '../api.js'
import { readBearerKey } from '../authenticate.js'
import { findAmbiguousHeaders, requestIdFrom } from '../headers.js'
import type { ProblemDetails } from '../problem.js'
import { PROBLEMS } from '../problem-catalogue.js'
import { findScope, missingScope } from '../scopes.js'
import { respondOnSocket } from '../server.js'
import { serveStream } from './stream-connection.js'

const RETRY_AFTER_SECONDS = 10
const IDLE_MS = 10_000

/** The parts of the endpoint for streams. */
export interface StreamParts
  extends Pick<FlowContext, 'live' | 'store' | 'log'>,
    Pick<ApiParts, 'findCaller' | 'publicUrl' | 'isStopping'> {
  /** Where a request came from, with regard to trusted proxies. */
  readonly addressOf: (request: IncomingMessage) => string | undefined
  readonly observeRequest: RequestObserver
  /** How long a client may send nothing, in milliseconds. Defaults to 10,000. */
  readonly idleMs?: number
}

/** Why a stream was refused before the connection became a WebSocket. */
class Refused extends Error {
  readonly code: ServiceProblemCode
  readonly details: ProblemDetails

  constructor(code: ServiceProblemCode, details: ProblemDetails = {}) {
    super(code)
    this.code = code
    this.details = details
  }
}

/** Accepts WebSockets for streams. Everything is checked first, so that a refusal is a problem with an HTTP status. */
export function streamAcceptor(parts: StreamParts) {
  const {
    live,
    store,
    findCaller,
    addressOf,
    publicUrl,
    log,
    observeRequest,
    isStopping,
    idleMs = IDLE_MS,
  } = parts
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: streamWire.MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handleProtocols: () => streamWire.STREAM_PROTOCOL,
  })
  sockets.on('wsClientError', ({ message }) => {
    throw new Refused('invalid_request', { errors: [{ field: 'handshake', detail: message }] })
  })

  /** The application, and the id of the key unless a ticket takes its place. */
  async function findCallerOf(request: IncomingMessage, query: URLSearchParams): Promise<StreamCaller> {
    const ticket = query.get('ticket')
    if (ticket !== null) {
      const application = await redeemTicket(store, ticket)
      if (application === undefined) throw new Refused('invalid_ticket')
      return { application }
    }
    const caller = await findCaller(readBearerKey(request.headers.authorization), addressOf(request))
    if (!caller) throw new Refused('invalid_api_key')
    const scope = findScope(streamWire.STREAM_PATH)
    if (scope !== undefined && !caller.scopes.includes(scope)) {
      throw new Refused('missing_scope', missingScope(scope))
    }
    return { application: caller.application.id, key: caller.key }
  }

  /** Everything that is checked before the key, which must not reveal more than the documentation does. */
  function checkHandshake(request: IncomingMessage): void {
    const errors = findAmbiguousHeaders(request)
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
    if (!offered.includes(streamWire.STREAM_PROTOCOL)) {
      errors.push({ field: 'sec-websocket-protocol', detail: `must contain ${streamWire.STREAM_PROTOCOL}` })
    }
    if (request.method !== 'GET') throw new Refused('method_not_allowed')
    if (errors.length > 0) throw new Refused('invalid_request', { errors })
  }

  function readLanguage(query: URLSearchParams): string | undefined {
    const given = query.get('language')
    if (given === null) return undefined
    const { data, error } = streamWire.streamLanguage.safeParse(given)
    if (data !== undefined) return data
    const errors = [{ field: 'language', detail: error?.issues[0]?.message ?? 'is invalid' }]
    throw new Refused('invalid_request', { errors })
  }

  return async function acceptStream(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const start = performance.now()
    const id = createRequestId(request)
    // Node removes its own handlers from the socket, so nothing else handles its errors.
    const destroy = () => void socket.destroy()
    socket.on('error', destroy)
    let caller: StreamCaller | undefined
    const client = addressOf(request)
    const record = (status: number, problem?: ServiceProblemCode) => {
      const ms = Math.round((performance.now() - start) * 10) / 10
      observeRequest({ method: 'GET', route: streamWire.STREAM_PATH, status, seconds: ms / 1_000 })
      log({
        level: 'info',
        event: 'http.request',
        request: id,
        method: 'GET',
        route: streamWire.STREAM_PATH,
        status,
        ms,
        ...caller,
        ...(client && { client }),
        ...(problem && { problem }),
      })
    }
    try {
      checkHandshake(request)
      const query = new URL(request.url ?? '', 'http://service').searchParams
      const language = readLanguage(query)
      caller = await findCallerOf(request, query)
      const { application } = caller
      if (!live.isAvailable)
        throw new Refused('transcription_unavailable', {
          detail: liveUnavailable().message,
        })
      if (!live.knows(language)) {
        throw new Refused('language_unavailable', { detail: PROBLEMS.language_unavailable.helps.join(' ') })
      }
      const place = isStopping() ? undefined : live.reserve(application)
      if (!place) throw new Refused('too_many_streams', { retryAfterSeconds: RETRY_AFTER_SECONDS })
      const origin = { application, request: id }
      socket.off('error', destroy)
      // The library does not call back after an invalid handshake, and when the connection has ended.
      let isAccepted = false
      try {
        sockets.handleUpgrade(request, socket, head, (webSocket) => {
          isAccepted = true
          void serveStream(webSocket, { place, origin, language, idleMs })
        })
      } finally {
        if (!isAccepted) place.release()
      }
      record(isAccepted ? 101 : 400)
    } catch (error) {
      const { code, details } = error instanceof Refused ? error : refuseFailed(error, id)
      const headers = [`X-Request-Id: ${id}`, 'Sec-WebSocket-Version: 13, 8']
      if (code === 'invalid_api_key') headers.push('WWW-Authenticate: Bearer')
      respondOnSocket(socket, code, publicUrl, { ...details, headers })
      record(PROBLEMS[code].status, code)
    }
  }

  function refuseFailed(error: unknown, request: string): Refused {
    log({ level: 'error', event: 'http.failed', request, detail: describeError(error) })
    return new Refused('unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
}

function createRequestId({ headers }: IncomingMessage): string {
  return requestIdFrom([headers['x-request-id']].flat()[0])
}

interface StreamCaller {
  readonly application: string
  readonly key?: string
}

type AcceptStream = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>

/** Headers that only concern the connection that they came with. */
const UPGRADE_HEADERS = ['upgrade', 'connection', 'http2-settings']

/**
 * Accepts WebSockets for streams below `mountPath` of a server. Without a listener, Node ignores the header `Upgrade`; with one, it
 * leaves all such requests to the listeners. So if there is no other listener, a WebSocket for another path is refused, and
 * any other upgrade, such as the one to HTTP/2 that Java's client offers, is ignored as before.
 */
export function attachStreams(server: Server, accept: AcceptStream, mountPath = ''): void {
  ignoreOtherUpgrades(server)
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = (request.url ?? '').split('?', 1)[0]
    if (isWebSocket(request) && path === `${mountPath}${streamWire.STREAM_PATH}`)
      return void accept(request, socket, head)
    if (server.listenerCount('upgrade') > 1) return
    socket.on('error', () => socket.destroy())
    if (!isWebSocket(request)) retryWithoutUpgrade(server, request, socket, head)
    else respondOnSocket(socket, 'not_found', '', { headers: [`X-Request-Id: ${createRequestId(request)}`] })
  })
}

const isWebSocket = (request: IncomingMessage) => request.headers.upgrade?.toLowerCase() === 'websocket'

/** Lets Node ignore the header `Upgrade`. Node 20 has no such function, and Node 26 has no other way for a request with a body. */
function ignoreOtherUpgrades(server: Server): void {
  const shouldUpgrade: unknown = Reflect.get(server, 'shouldUpgradeCallback')
  if (typeof shouldUpgrade !== 'function') return
  Reflect.set(server, 'shouldUpgradeCallback', (request: IncomingMessage) => {
    const isIgnored = !isWebSocket(request) && server.listenerCount('upgrade') === 1
    return !isIgnored && shouldUpgrade.call(server, request)
  })
}

/** Gives the server the same request once more, without the header `Upgrade`, where Node could not ignore it. */
function retryWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = rawHeaders.flatMap((name, i) =>
    i % 2 === 1 || UPGRADE_HEADERS.includes(name.toLowerCase()) ? [] : [`${name}: ${rawHeaders[i + 1]}`],
  )
  const text = [`${method} ${url} HTTP/${httpVersion}`, ...lines, '', ''].join('\r\n')
  socket.unshift(Buffer.concat([Buffer.from(text, 'latin1'), head]))
  server.emit('connection', socket)
}
