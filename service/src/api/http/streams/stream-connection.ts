import { streamWire, type TranscriptPiece } from 'countersign/speech'
import type { WebSocket } from 'ws'
import { readJson } from '../../../json.js'
import type {
  LiveStream,
  StreamFailure,
  StreamPlace,
} from '../../../transcription/live/live-transcription.js'
import type { Origin } from '../../../transcription/transcription.js'

/** With this much unread text, a partial piece is left out: the next one replaces it. */
const SKIP_PARTIALS_BYTES = 64 * 1024
/** With this much unread text, the connection is cut. */
const MAX_UNREAD_BYTES = 1024 * 1024
/** Time for the client to answer the close frame. */
const CLOSE_TIMEOUT_MS = 2_000

const NORMAL = 1000
const CLOSE_CODES: Readonly<Record<streamWire.StreamErrorCode, number>> = {
  invalid_message: 1008,
  idle: 1008,
  stream_too_long: 1008,
  engine_failed: 1011,
  engine_unavailable: 1011,
  unavailable: 1013,
}

/** The parts that one connection needs beside its socket. */
export interface StreamConnection {
  readonly place: StreamPlace
  readonly origin: Origin
  readonly language: string | undefined
  /** How long the client may send nothing. */
  readonly idleMs: number
}

/** Serves one stream on a WebSocket: audio in, text out. */
export async function serveStream(
  socket: WebSocket,
  { place, origin, language, idleMs }: StreamConnection,
): Promise<void> {
  let stream: LiveStream | undefined
  let isClosing = false
  let isEnding = false
  let idle: NodeJS.Timeout | undefined
  /** Blocks of audio that the engine has not taken yet. Nothing is read from the client meanwhile. */
  let waiting = 0
  let written: Promise<void> = Promise.resolve()

  const awaitClient = () => {
    clearTimeout(idle)
    idle = setTimeout(() => fail({ code: 'idle', detail: IDLE }), idleMs)
  }
  const stopWaiting = () => clearTimeout(idle)
  function send(message: streamWire.StreamMessage): void {
    if (isClosing) return
    if (message.type === 'partial' && socket.bufferedAmount > SKIP_PARTIALS_BYTES) return
    socket.send(JSON.stringify(message))
    cutSlowReader()
  }
  function cutSlowReader(): void {
    if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate()
  }
  function close(code: number, reason = ''): void {
    if (isClosing) return
    isClosing = true
    stopWaiting()
    stream?.close()
    place.release()
    // A paused socket would not notice that the client closes it.
    socket.resume()
    socket.close(code, reason)
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref()
  }
  function fail({ code, detail }: StreamFailure): void {
    send({ type: 'error', code, detail })
    close(CLOSE_CODES[code], code)
  }
  function hear(pcm: Buffer): void {
    if (pcm.length % 2 === 1) return fail({ code: 'invalid_message', detail: ODD })
    socket.pause()
    stopWaiting()
    waiting += 1
    written = written
      .then(() => stream?.write(pcm))
      .then(() => {
        waiting -= 1
        if (waiting > 0 || isClosing || isEnding) return
        socket.resume()
        awaitClient()
      })
  }
  function end(): void {
    isEnding = true
    stopWaiting()
    written = written
      .then(() => stream?.end())
      .then(() => {
        if (!isClosing) close(NORMAL)
      })
  }

  socket.on('message', (data: Buffer, isBinary) => {
    if (isClosing) return
    if (isEnding) return fail({ code: 'invalid_message', detail: AFTER_END })
    if (isBinary) return hear(data)
    const request = streamWire.streamRequest.safeParse(readJson(String(data))).data
    if (!request) fail({ code: 'invalid_message', detail: UNKNOWN })
    else if (request.type === 'end') end()
    else if (waiting === 0) awaitClient()
  })
  // The library answers each ping itself.
  socket.on('ping', cutSlowReader)
  // A broken connection and a frame that is too large are followed by `close`.
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosing = true
    stopWaiting()
    stream?.close()
    place.release()
  })

  // Audio waits in the connection until the engine is ready.
  socket.pause()
  stream = await place.open(origin, language, {
    onPiece: (piece) => send(createMessage(piece)),
    onFailure: fail,
  })
  if (isClosing) return stream.close()
  send({ type: 'ready', sample_rate: streamWire.STREAM_SAMPLE_RATE })
  socket.resume()
  awaitClient()
}

const IDLE = 'Neither audio nor {"type":"keepalive"} arrived for ten seconds.'
const ODD = 'Audio must be PCM with 16 bits, so each frame has an even number of bytes.'
const UNKNOWN = 'Text frames must be {"type":"end"} or {"type":"keepalive"}. Send audio as binary frames.'
const AFTER_END = 'Nothing may follow {"type":"end"}.'

function createMessage(piece: TranscriptPiece): streamWire.StreamMessage {
  if (piece.type === 'partial') return piece
  return { type: 'final', text: piece.text, start_ms: piece.startMs, end_ms: piece.endMs }
}
