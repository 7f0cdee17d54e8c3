import { setTimeout as pause } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { keyRefused, readRefusal } from '../client/refusals.js'
import { invalidResponse, validFields } from '../client/response-validation.js'
import { readRetryAfter } from '../client/retry-after.js'
import type { Transport } from '../client/transport.js'
import { ServiceError } from '../errors.js'
import { readJson } from '../json.js'
import type { ServiceSettings } from '../options/service.js'
import {
  type AudioSink,
  type PieceListener,
  STREAM_PATH,
  STREAM_PROTOCOL,
  streamMessage,
  streamPieces,
  streamTicketAnswer,
  TICKETS_PATH,
} from './stream.js'
import type { LiveOptions, LiveTranscriptionVerbs } from './transcription.js'
import { TranscriptionError } from './transcription-error.js'

/** Creates the functions for streams of a client. */
export function liveClient(
  settings: Omit<ServiceSettings, 'dialect'>,
  transport: Transport,
): LiveTranscriptionVerbs {
  return {
    transcribeLive: (audio, options = {}) =>
      streamPieces(
        audio,
        async (listener) => {
          await transport.identify?.()
          return openLiveSocket(settings, listener, options)
        },
        options.signal,
      ),
    async createStreamTicket() {
      const answer = await transport.post(TICKETS_PATH, {})
      if (answer.status === 501) {
        throw liveUnavailable(
          'The MFA service has no engine for realtime transcription (SERVICE_LIVE_TRANSCRIBER).',
        )
      }
      if (answer.status !== 200) {
        readRefusal(answer)
        throw invalidResponse(`unexpected status ${answer.status}`)
      }
      const read = streamTicketAnswer.safeParse(validFields(answer))
      if (!read.success) throw invalidResponse('a body without a ticket')
      return { ticket: read.data.ticket, expiresInSeconds: read.data.expires_in }
    },
  }
}

/** The methods of a service that speaks the published API, which does not describe realtime transcription. */
export const unsupportedLive: LiveTranscriptionVerbs = {
  transcribeLive: () => streamPieces(nothing(), () => Promise.reject(createUnsupportedError())),
  createStreamTicket: () => Promise.reject(createUnsupportedError()),
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function createUnsupportedError(): TranscriptionError {
  return liveUnavailable(
    'This service speaks the published API, which does not describe realtime transcription. It needs the Countersign service.',
  )
}

function liveUnavailable(message: string): TranscriptionError {
  return new TranscriptionError('transcription_unavailable', message)
}

/** Audio that may wait for the network before the source is read further. */
const MAX_BUFFERED_BYTES = 256 * 1024
/** The library does not say when its buffer has been sent. */
const BUFFER_POLL_MS = 20
/** The service ends a stream after ten seconds in which it received nothing. */
const KEEP_ALIVE_MS = 4_000
/** Longer than the service waits for its engine. */
const LAST_PIECES_TIMEOUT_MS = 70_000

/** The head of the service's response to the handshake. */
interface Refusal {
  status?: number
  retryAfterSeconds?: number | undefined
}

/** Opens a stream whose engine is ready. @throws {TranscriptionError | ServiceError} if the service refuses it. */
async function openLiveSocket(
  { baseUrl, apiKey, timeoutMs }: Pick<ServiceSettings, 'baseUrl' | 'apiKey' | 'timeoutMs'>,
  { onPiece, onFailure }: PieceListener,
  { language }: Pick<LiveOptions, 'language'>,
): Promise<AudioSink> {
  const { Agent, WebSocket } = await import('undici')
  const url = new URL(`${baseUrl.replace(/^http/, 'ws').replace(/\/$/, '')}${STREAM_PATH}`)
  if (language !== undefined) url.searchParams.set('language', language)
  const refusal: Refusal = {}
  const agent = new Agent({ allowH2: false, connect: { timeout: timeoutMs, rejectUnauthorized: true } })
  const socket = new WebSocket(url, {
    protocols: [STREAM_PROTOCOL],
    headers: { authorization: `Bearer ${apiKey()}` },
    dispatcher: agent.compose(observeStatus(refusal)),
  })

  return new Promise((resolve, reject) => {
    let isReady = false
    let isClosed = false
    let finish = () => {}
    let isEnding = false
    let lastSentAt = performance.now()
    const keepAlive = setInterval(() => {
      if (isReady && !isEnding && performance.now() - lastSentAt > KEEP_ALIVE_MS) send('{"type":"keepalive"}')
    }, KEEP_ALIVE_MS / 2)

    function send(message: string | Buffer): void {
      lastSentAt = performance.now()
      socket.send(message)
    }
    function close(): void {
      if (isClosed) return
      isClosed = true
      clearInterval(keepAlive)
      finish()
      socket.close()
      agent.destroy().catch(() => {})
    }
    function fail(error: Error): void {
      if (isClosed) return
      if (isReady) onFailure(error)
      else reject(error)
      close()
    }
    const sink: AudioSink = {
      async write(pcm) {
        if (!isClosed) send(pcm)
        while (!isClosed && socket.bufferedAmount > MAX_BUFFERED_BYTES) await pause(BUFFER_POLL_MS)
      },
      async end() {
        if (isClosed) return
        isEnding = true
        const timer = setTimeout(() => fail(connectionLost(1006)), LAST_PIECES_TIMEOUT_MS)
        await new Promise<void>((ended) => {
          finish = ended
          send('{"type":"end"}')
        })
        clearTimeout(timer)
      },
      close,
    }

    socket.addEventListener('message', ({ data }) => {
      if (isClosed) return
      const message = streamMessage.safeParse(readJson(String(data))).data
      if (!message) fail(invalidResponse('a message that is not part of transcribe.v1'))
      else if (message.type === 'ready') {
        isReady = true
        resolve(sink)
      } else if (message.type === 'partial') onPiece(message)
      else if (message.type === 'error') fail(new TranscriptionError(message.code, message.detail))
      else onPiece({ type: 'final', text: message.text, startMs: message.start_ms, endMs: message.end_ms })
    })
    socket.addEventListener('error', () => {
      if (!isReady) fail(handshakeFailed(refusal))
    })
    socket.addEventListener('close', ({ code }) => {
      if (code === 1000 && isEnding) close()
      else fail(isReady ? connectionLost(code) : handshakeFailed(refusal))
    })
  })
}

/** Notes the status of the response, which the WebSocket does not tell. */
function observeStatus(refusal: Refusal): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const observed = new Proxy(handler, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...values: unknown[]) => {
          if (name === 'onResponseStart') {
            refusal.status = Number(values[1])
            const headers = Object(values[2]) as Record<string, unknown>
            refusal.retryAfterSeconds = readRetryAfter(String(headers['retry-after'] ?? ''))
          }
          return member.apply(target, values)
        }
      },
    })
    return dispatch(options, observed)
  }
}

function handshakeFailed({ status, retryAfterSeconds }: Refusal): Error {
  switch (status) {
    case 401:
    case 403:
      return keyRefused()
    case 400:
      return new ServiceError('ERR_MFA_SERVICE_REQUEST', 'The MFA service rejected the stream as invalid.')
    case 404:
    case 426:
    case 501:
      return new TranscriptionError(
        'transcription_unavailable',
        `The MFA service does not offer realtime transcription (status ${status}). Check its engine (SERVICE_LIVE_TRANSCRIBER), and that a proxy passes WebSockets on.`,
      )
    case 429:
    case 503:
      return new TranscriptionError(
        'busy',
        'The MFA service already transcribes its maximum number of streams.',
        { retryAfterSeconds },
      )
    default:
      return new ServiceError(
        'ERR_MFA_SERVICE_UNAVAILABLE',
        `The MFA service could not be reached for a stream${status ? ` (status ${status})` : ''}. Check that it is running and that service.baseUrl is correct.`,
      )
  }
}

function connectionLost(code: number): TranscriptionError {
  return new TranscriptionError(
    'connection_lost',
    `The connection to the MFA service ended early (close code ${code}). Text that arrived before is incomplete.`,
  )
}
