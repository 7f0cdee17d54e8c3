import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ServiceProblemCode, streamWire } from 'countersign/protocol'
import { WebSocketServer } from 'ws'
import { liveUnavailable } from '../../flows/transcribe-live.js'
import { describeError, type Logger } from '../../log/logger.js'
import type { RequestObserver } from '../../metrics/request-metrics.js'
import type { Store } from '../../store/store.js'
import type { LiveTranscription } from '../../transcription/live/live-transcription.js'
import { redeemTicket } from '../../transcription/tickets.js'
import { ambiguousHeaders } from '../ambiguous-headers.js'
import { bearerKeyIn, type FindApplication } from '../authenticate.js'
import type { ProblemDetails } from '../problem.js'
import { PROBLEMS } from '../problem-catalogue.js'
import { requestIdFrom } from '../request-id.js'
import { respondOnSocket } from '../socket-problem.js'
import { serveStream } from './stream-connection.js'

const RETRY_AFTER_SECONDS = 10
const IDLE_MS = 10_000

/** The parts of the endpoint for streams. */
export interface StreamParts {
  readonly live: LiveTranscription
  readonly store: Store
  readonly findApplication: FindApplication
  readonly publicUrl: string | undefined
  readonly log: Logger
  readonly observeRequest: RequestObserver
  readonly isStopping: () => boolean
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

/**
 * Accepts WebSockets for streams. Everything is checked before the connection becomes a WebSocket, so that a refusal is a
 * problem with an HTTP status as for every other route.
 */
export function streamAcceptor(parts: StreamParts) {
  const { live, store, findApplication, publicUrl, log, observeRequest, isStopping, idleMs = IDLE_MS } = parts
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: streamWire.MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handleProtocols: () => streamWire.STREAM_PROTOCOL,
  })

  async function applicationOf(request: IncomingMessage, query: URLSearchParams): Promise<string> {
    const ticket = query.get('ticket')
    if (ticket !== null) {
      const application = await redeemTicket(store, ticket)
      if (application === undefined) throw new Refused('invalid_ticket')
      return application
    }
    const application = await findApplication(bearerKeyIn(request.headers.authorization))
    if (!application) throw new Refused('invalid_api_key')
    return application.id
  }

  /** Everything that is checked before the key, which must not reveal more than the documentation does. */
  function checkHandshake(request: IncomingMessage): void {
    const errors = ambiguousHeaders(request)
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
    if (!offered.includes(streamWire.STREAM_PROTOCOL)) {
      errors.push({ field: 'sec-websocket-protocol', detail: `must contain ${streamWire.STREAM_PROTOCOL}` })
    }
    if (request.method !== 'GET') throw new Refused('method_not_allowed')
    if (errors.length > 0) throw new Refused('invalid_request', { errors })
  }

  function languageIn(query: URLSearchParams): string | undefined {
    const given = query.get('language')
    if (given === null) return undefined
    const { data, error } = streamWire.streamLanguage.safeParse(given)
    if (data !== undefined) return data
    const errors = [{ field: 'language', detail: error?.issues[0]?.message ?? 'is invalid' }]
    throw new Refused('invalid_request', { errors })
  }

  return async function acceptStream(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const start = performance.now()
    const id = requestIdFrom(single(request.headers['x-request-id']))
    // Node removes its own handlers from the socket, so nothing else handles its errors.
    const destroy = () => void socket.destroy()
    socket.on('error', destroy)
    const record = (status: number, application?: string, problem?: ServiceProblemCode) => {
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
        ...(application && { application }),
        ...(problem && { problem }),
      })
    }
    let application: string | undefined
    try {
      checkHandshake(request)
      const query = new URL(request.url ?? '', 'http://service').searchParams
      const language = languageIn(query)
      application = await applicationOf(request, query)
      if (!live.isAvailable)
        throw new Refused('transcription_unavailable', {
          detail: liveUnavailable().message,
        })
      const place = isStopping() ? undefined : live.reserve(application)
      if (!place) throw new Refused('too_many_streams', { retryAfterSeconds: RETRY_AFTER_SECONDS })
      const origin = { application, request: id }
      socket.off('error', destroy)
      // The library refuses an invalid handshake by itself and then does not call back.
      let isAccepted = false
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        isAccepted = true
        void serveStream(webSocket, { place, origin, language, idleMs })
      })
      if (!isAccepted) place.release()
      record(isAccepted ? 101 : 400, application)
    } catch (error) {
      const { code, details } = error instanceof Refused ? error : failed(error, id)
      const headers = code === 'invalid_api_key' ? ['WWW-Authenticate: Bearer'] : []
      respondOnSocket(socket, code, publicUrl, { ...details, headers })
      record(PROBLEMS[code].status, application, code)
    }
  }

  function failed(error: unknown, request: string): Refused {
    log({ level: 'error', event: 'http.failed', request, detail: describeError(error) })
    return new Refused('unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
