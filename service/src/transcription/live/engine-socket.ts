import { WebSocket } from 'ws'
import { readJson } from '../../json.js'
import { EngineError } from '../engines/transcriber.js'

const HANDSHAKE_TIMEOUT_MS = 10_000
const MAX_MESSAGE_BYTES = 1024 * 1024
/** How much may wait for the network before `send` waits. */
const MAX_BUFFERED_BYTES = 256 * 1024

/** How a connection to a transcription server is opened. */
export interface SocketRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Called with each message, parsed as JSON; `undefined` when it is not JSON. */
  onMessage(message: unknown): void
  /** Called when the server closes the connection or it breaks, unless `signal` aborted. */
  onClose(): void
}

/** A WebSocket to a transcription server. */
export interface EngineSocket {
  /** Resolves when the connection can take more, and also when it has closed. */
  send(message: string | Buffer): Promise<void>
}

/** Connects to a transcription server. Throws an `EngineError` if it refuses or does not answer within ten seconds. */
export function openEngineSocket(request: SocketRequest): Promise<EngineSocket> {
  const { url, headers = {}, signal, onMessage, onClose } = request
  signal.throwIfAborted()
  const socket = new WebSocket(url, {
    headers,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  })
  const stop = () => socket.terminate()
  signal.addEventListener('abort', stop, { once: true })

  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve({ send: (message) => send(socket, message) }))
    socket.on('unexpected-response', (_request, response) => {
      const { statusCode = 0 } = response
      const isPassing = statusCode >= 500 || [408, 425, 429].includes(statusCode)
      const message = `The transcription server responded with ${statusCode}.`
      reject(new EngineError(isPassing ? 'engine_unavailable' : 'engine_failed', message))
      socket.terminate()
    })
    socket.on('error', (cause) => {
      reject(
        new EngineError('engine_unavailable', 'The transcription server could not be reached.', { cause }),
      )
    })
    socket.on('message', (data) => {
      if (!signal.aborted) onMessage(readJson(String(data)))
    })
    socket.on('close', () => {
      signal.removeEventListener('abort', stop)
      if (signal.aborted) return reject(signal.reason)
      reject(new EngineError('engine_unavailable', 'The transcription server closed the connection.'))
      onClose()
    })
  })
}

function send(socket: WebSocket, message: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    // Without a connection, `close` is what reports the failure.
    if (socket.readyState !== WebSocket.OPEN) return resolve()
    const mustWait = socket.bufferedAmount > MAX_BUFFERED_BYTES
    socket.send(message, () => {
      if (mustWait) resolve()
    })
    if (!mustWait) resolve()
  })
}
