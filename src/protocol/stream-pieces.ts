import type { TranscriptPiece } from './transcription.js'
import { MAX_FRAME_BYTES } from './transcription-stream.js'

/** What receives the audio of a stream. */
export interface AudioSink {
  /** Resolves when it can take more, and also when it has failed. */
  write(pcm: Buffer): Promise<void>
  /** Says that there is no more audio. Resolves after the last piece, and also when it has failed. */
  end(): Promise<void>
  /** Ends the stream. Later calls do nothing. */
  close(): void
}

/** What the sink reports. */
export interface PieceListener {
  /** Receives each piece of the transcript. */
  onPiece(piece: TranscriptPiece): void
  /** Receives why the stream ended early, which the iterator then throws. */
  onFailure(error: unknown): void
}

/**
 * Hands `audio` to the sink that `open` returns, no faster than the sink takes it, and yields the pieces of the transcript.
 * Stops reading `audio` when the iterator ends for any reason.
 */
export function streamPieces(
  audio: AsyncIterable<Uint8Array>,
  open: (listener: PieceListener) => Promise<AudioSink>,
  signal?: AbortSignal,
): AsyncGenerator<TranscriptPiece, void, undefined> {
  return run(audio, open, signal)
}

async function* run(
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
      return feed(audio, sink, stopped.signal)
    })
    .then(pieces.end, pieces.fail)
  try {
    yield* pieces.read()
  } finally {
    signal?.removeEventListener('abort', abort)
    stopped.abort()
  }
}

async function feed(audio: AsyncIterable<Uint8Array>, sink: AudioSink, signal: AbortSignal): Promise<void> {
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
