import { streamWire, type TranscriptPiece } from 'countersign/speech'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { type EngineError, ensureEngineError, knows } from '../engines/transcriber.js'
import { fairSlots } from '../fair-slots.js'
import type { Origin } from '../transcription.js'

/** The maximum length of the audio of a stream, and of the stream itself. */
const MAX_SECONDS = 600
/** How long the engine may take for a block of audio, and for the rest after the last one. */
const ENGINE_TIMEOUT_MS = 60_000

/** Why a stream ended before its audio did. */
export interface StreamFailure {
  readonly code: streamWire.StreamErrorCode
  /** One sentence for the caller. */
  readonly detail: string
}

interface StreamListeners {
  onPiece(piece: TranscriptPiece): void
  /** Called at most once. The stream is closed then, and its methods do nothing more. */
  onFailure(failure: StreamFailure): void
}

/** One stream of audio. */
export interface LiveStream {
  /** Resolves when the engine can take more. */
  write(pcm: Buffer): Promise<void>
  /** Says that there is no more audio. Resolves after the last piece; the stream is closed then. */
  end(): Promise<void>
  /** Ends the stream and frees the engine. Later calls do nothing. */
  close(): void
}

/** Transcribes streams of audio, a limited number at a time. */
export type LiveTranscription = ReturnType<typeof createLiveTranscription>

/** A place for one stream, which must be released or opened. */
export type StreamPlace = NonNullable<ReturnType<LiveTranscription['reserve']>>

/** The parts of realtime transcription. */
export interface LiveParts {
  readonly engine: LiveTranscriber | undefined
  readonly maxStreams: number
  readonly log: Logger
}

/** Transcribes streams with `engine`, at most `maxStreams` at a time. */
export function createLiveTranscription({ engine, maxStreams, log }: LiveParts) {
  const slots = fairSlots(maxStreams)
  const open = new Set<(failure: StreamFailure) => void>()
  let isClosed = false

  return {
    isAvailable: engine !== undefined,
    /** Whether the engine says that it has a language. */
    knows: (language: string | undefined) => knows(engine ?? {}, language),
    /** A place for a stream of this application; `undefined` when all are taken. */
    reserve(application: string) {
      const freeSlot = engine && !isClosed ? slots.take(application) : undefined
      if (!engine || !freeSlot) return undefined
      let isTaken = true
      const release = () => {
        if (isTaken) freeSlot()
        isTaken = false
      }
      return {
        release,
        /** Resolves when the engine is ready, or has failed. */
        open(origin: Origin, language: string | undefined, listeners: StreamListeners): Promise<LiveStream> {
          const streamLog = logOf(log, origin, engine.name)
          return openStream({ engine, language, listeners, streamLog, open, release })
        },
      }
    },
    /** Ends all streams, and accepts no more. */
    close(): void {
      isClosed = true
      for (const fail of open) fail({ code: 'unavailable', detail: 'The service is shutting down.' })
    },
  }
}

async function openStream(parts: {
  readonly engine: LiveTranscriber
  readonly language: string | undefined
  readonly listeners: StreamListeners
  readonly streamLog: ReturnType<typeof logOf>
  readonly open: Set<(failure: StreamFailure) => void>
  release(): void
}): Promise<LiveStream> {
  const { engine, language, listeners, streamLog, open, release } = parts
  const controller = new AbortController()
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  let stopWaiting = () => {}
  const lifetime = setTimeout(() => fail(TOO_LONG), MAX_SECONDS * 1_000)

  function close(): void {
    if (controller.signal.aborted) return
    clearTimeout(lifetime)
    clearTimeout(timer)
    open.delete(fail)
    controller.abort(new Error('The stream is closed.'))
    stopWaiting()
    release()
    streamLog.closed(bytes / streamWire.STREAM_BYTES_PER_SECOND)
  }
  function fail(failure: StreamFailure): void {
    if (controller.signal.aborted) return
    streamLog.failed(failure)
    close()
    listeners.onFailure(failure)
  }
  function failBy(error: EngineError): void {
    if (controller.signal.aborted) return
    streamLog.engineFailed(error)
    fail({ code: error.code, detail: ENGINE_FAILED })
  }
  /** Waits for the engine, but not forever, and not when the stream is closed. */
  async function waitWithinTime(work: Promise<void>): Promise<void> {
    if (controller.signal.aborted) return
    timer = setTimeout(() => failBy(ensureEngineError(engine.name, TIMEOUT)), ENGINE_TIMEOUT_MS)
    // Not `Promise.race` with a promise that lasts as long as the stream: it would keep every block of audio.
    await new Promise<void>((resolve) => {
      stopWaiting = resolve
      work.catch((error: unknown) => failBy(ensureEngineError(engine.name, error))).then(resolve)
    })
    clearTimeout(timer)
  }

  open.add(fail)
  streamLog.opened()
  let stream: EngineStream | undefined
  await waitWithinTime(
    engine
      .open({
        language,
        signal: controller.signal,
        onPiece: (piece) => {
          if (!controller.signal.aborted) listeners.onPiece(piece)
        },
        onFailure: failBy,
      })
      .then((opened) => {
        stream = opened
      }),
  )
  return {
    async write(pcm) {
      bytes += pcm.length
      if (bytes > MAX_SECONDS * streamWire.STREAM_BYTES_PER_SECOND) fail(TOO_LONG)
      else if (stream && !controller.signal.aborted) await waitWithinTime(stream.write(pcm))
    },
    async end() {
      if (stream && !controller.signal.aborted) await waitWithinTime(stream.end())
      close()
    },
    close,
  }
}

const TOO_LONG: StreamFailure = { code: 'stream_too_long', detail: 'A stream may last ten minutes.' }
const ENGINE_FAILED = 'The transcription engine failed. The log of the service says why.'
const TIMEOUT = new DOMException('It took longer than a minute.', 'TimeoutError')

/** Logs a stream, but never its content. */
function logOf(log: Logger, origin: Origin, engine: string) {
  const start = performance.now()
  return {
    opened: () => log({ level: 'info', event: 'stream.opened', ...origin, detail: engine }),
    closed(seconds: number) {
      const ms = Math.round(performance.now() - start)
      log({ level: 'info', event: 'stream.closed', ...origin, seconds: Math.round(seconds * 100) / 100, ms })
    },
    failed: ({ code }: StreamFailure) =>
      log({ level: 'info', event: 'stream.refused', ...origin, reason: code }),
    engineFailed: (error: EngineError) =>
      log({ level: 'error', event: 'stream.failed', ...origin, detail: describeError(error) }),
  }
}

/** How a stream is opened. */
export interface StreamRequest {
  /** A BCP 47 tag; `undefined` leaves the choice to the engine. */
  readonly language: string | undefined
  onPiece(piece: TranscriptPiece): void
  /** Called at most once, when the engine fails while the stream is open. */
  onFailure(error: EngineError): void
  /** Ends the stream and frees everything that belongs to it. It must abort in the end, also after a success. */
  readonly signal: AbortSignal
}

/** An open stream. */
export interface EngineStream {
  /** Hands audio to the engine (PCM, 16 kHz, 16 bits, mono). Resolves when it can take more, and also when it has failed. */
  write(pcm: Buffer): Promise<void>
  /** Says that there is no more audio. Resolves after the last piece, or when the engine has failed. */
  end(): Promise<void>
}

/** An engine that turns speech into text while it is spoken. */
export interface LiveTranscriber {
  /** Its name in the log. */
  readonly name: string
  /** The languages that it has, as BCP 47 tags. Absent if it does not say so. */
  readonly languages?: readonly string[]
  /** Resolves when the engine is ready for audio. Throws an `EngineError` if it is not within a few seconds. */
  open(request: StreamRequest): Promise<EngineStream>
}
