import * as z from 'zod'
import type { TranscriptPiece } from './transcription.js'

/*
 * Realtime transcription: the WebSocket protocol `transcribe.v1` of the self-hosted service. The client sends audio as binary
 * frames, and both sides send JSON as text frames.
 */

/** The path of streams. */
export const STREAM_PATH = '/v1/transcribe/stream'

/** The path of `POST` requests for tickets. */
export const TICKETS_PATH = '/v1/transcribe/tickets'

/** The WebSocket subprotocol of streams. */
export const STREAM_PROTOCOL = 'transcribe.v1'

/** The sample rate of the audio in hertz; it has 16 bits per sample, little-endian, and one channel. */
export const STREAM_SAMPLE_RATE = 16_000

/** How many bytes a second of the audio has. */
export const STREAM_BYTES_PER_SECOND = 2 * STREAM_SAMPLE_RATE

/** The maximum size of a frame, in bytes. */
export const MAX_FRAME_BYTES = 64 * 1024

/** The language of a stream: a BCP 47 tag. */
export const streamLanguage = z
  .string({ error: 'must be text' })
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$/, { error: 'must be a language tag such as en or pt-BR' })

/** The messages that a client sends as text: `end` after the last audio, `keepalive` while there is none. */
export const streamRequest = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('keepalive') }),
])

/** Why a stream ends before its audio does. */
export const STREAM_ERRORS = [
  /** The service does not understand what it was sent. */
  'invalid_message',
  /** Neither audio nor a keep-alive arrived for ten seconds. */
  'idle',
  'stream_too_long',
  'engine_failed',
  'engine_unavailable',
  /** The service is shutting down. */
  'unavailable',
] as const

/** Why a stream ends before its audio does. */
export type StreamErrorCode = (typeof STREAM_ERRORS)[number]

const milliseconds = z.number().int().nonnegative()

/** The messages of the service. */
export const streamMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), sample_rate: z.literal(STREAM_SAMPLE_RATE) }),
  z.object({ type: z.literal('partial'), text: z.string() }),
  z.object({ type: z.literal('final'), text: z.string(), start_ms: milliseconds, end_ms: milliseconds }),
  z.object({ type: z.literal('error'), code: z.enum(STREAM_ERRORS), detail: z.string() }),
])

/** The messages of the service. */
export type StreamMessage = z.output<typeof streamMessage>

/** The form of a ticket for a stream: 16 to 128 characters of base64url. */
export const STREAM_TICKET = /^[\w-]{16,128}$/

/** The response to `POST /v1/transcribe/tickets` with status 200. */
export const streamTicketAnswer = z.object({
  ticket: z
    .string()
    .regex(STREAM_TICKET)
    .meta({
      description: 'Opens one stream, as the query parameter `ticket` of its address.',
      examples: ['9sXo1kZyq3mJm8o0o5a8c1hI7wJxq2k4bJ3d0d9uV2E'],
    }),
  expires_in: z
    .number()
    .int()
    .positive()
    .meta({
      description: 'How many seconds the ticket is valid.',
      examples: [60],
    }),
})

/** The object that receives the audio of a stream. */
export interface AudioSink {
  /** Resolves when it can take more, and also when it has failed. */
  write(pcm: Buffer): Promise<void>
  /** Says that there is no more audio. Resolves after the last piece, and also when it has failed. */
  end(): Promise<void>
  close(): void
}

/** The reports of the sink. */
export interface PieceListener {
  /** Receives each piece of the transcript. */
  onPiece(piece: TranscriptPiece): void
  /** Receives why the stream ended early, which the iterator then throws. */
  onFailure(error: unknown): void
}

/** Hands `audio` to the sink, no faster than it takes it, and yields the pieces, until the iterator ends. */
export async function* streamPieces(
  audio: AsyncIterable<Uint8Array>,
  open: (listener: PieceListener) => Promise<AudioSink>,
  signal?: AbortSignal,
): AsyncGenerator<TranscriptPiece, void, undefined> {
  signal?.throwIfAborted()
  const pieces = pieceQueue()
  const stopped = new AbortController()
  const abort = () => pieces.fail(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const opening = open({ onPiece: pieces.add, onFailure: pieces.fail })
  opening
    .then((sink) => {
      stopped.signal.addEventListener('abort', sink.close, { once: true })
      if (stopped.signal.aborted) return sink.close()
      return feedAudio(audio, sink, stopped.signal)
    })
    .then(pieces.end, pieces.fail)
  try {
    yield* pieces.read()
  } finally {
    signal?.removeEventListener('abort', abort)
    stopped.abort()
  }
}

async function feedAudio(
  audio: AsyncIterable<Uint8Array>,
  sink: AudioSink,
  signal: AbortSignal,
): Promise<void> {
  const iterator = audio[Symbol.asyncIterator]()
  let stopWaiting = () => {}
  signal.addEventListener('abort', () => stopWaiting(), { once: true })
  const readNext = () =>
    new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
      stopWaiting = () => resolve(undefined)
      if (signal.aborted) stopWaiting()
      else iterator.next().then(resolve, reject)
    })
  try {
    let rest = Buffer.alloc(0)
    for (;;) {
      const next = await readNext()
      if (!next) return
      if (next.done) break
      const bytes = Buffer.concat([rest, next.value])
      // A sample has two bytes.
      const whole = bytes.length - (bytes.length % 2)
      for (let start = 0; start < whole && !signal.aborted; start += MAX_FRAME_BYTES) {
        await sink.write(bytes.subarray(start, Math.min(start + MAX_FRAME_BYTES, whole)))
      }
      rest = bytes.subarray(whole)
    }
  } finally {
    // Not awaited: a source that waits for audio would keep the stream open.
    Promise.resolve(iterator.return?.()).catch(() => {})
  }
  await sink.end()
}

/** Pieces that have not been read. A partial piece is replaced by the next one, so that a slow reader needs little memory. */
function pieceQueue() {
  const waiting: TranscriptPiece[] = []
  let outcome: { readonly error?: unknown } | undefined
  let wake = () => {}

  return {
    add(piece: TranscriptPiece): void {
      if (waiting.at(-1)?.type === 'partial') waiting.pop()
      waiting.push(piece)
      wake()
    },
    end(): void {
      outcome ??= {}
      wake()
    },
    fail(error: unknown): void {
      outcome ??= { error }
      wake()
    },
    async *read(): AsyncGenerator<TranscriptPiece, void, undefined> {
      for (;;) {
        const piece = waiting.shift()
        if (piece) yield piece
        else if (outcome) {
          if ('error' in outcome) throw outcome.error
          return
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    },
  }
}
