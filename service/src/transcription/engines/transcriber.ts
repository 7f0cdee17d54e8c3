import type { TranscriptFormat, TranscriptSegment, TranscriptWord } from 'countersign/speech'

/** The statements of the caller about the speech. */
export interface SpeechOptions {
  /** A BCP 47 tag. */
  readonly language?: string | undefined
  /** Text that helps to recognize names. */
  readonly prompt?: string | undefined
  /** The form of the transcript. Defaults to `json`. */
  readonly format?: TranscriptFormat | undefined
}

/** A recording in the form that every engine accepts: a WAV file, 16 kHz, mono, 16 bits. */
export interface Recording extends Pick<SpeechOptions, 'language' | 'prompt'> {
  readonly path: string
  readonly durationSeconds: number
  /** Whether the transcript should have the times of segments and words. Defaults to `false`. */
  readonly withTimes?: boolean
  /** Called for each segment as soon as it is recognized, by engines that can. */
  readonly onSegment?: (segment: TranscriptSegment) => void
  /** Aborts when the transcription has taken too long or its result is no longer needed. */
  readonly signal: AbortSignal
}

/** The speech that an engine recognized. */
export interface Transcript {
  /** Empty when no words were recognized. */
  readonly text: string
  readonly language?: string
  /** How sure the engine is of the text, from 0 to 1; absent when it does not say so. */
  readonly confidence?: number
  /** In the order in which they are spoken; absent when the engine gives no times. */
  readonly segments?: readonly TranscriptSegment[]
  /** Absent when the engine gives no times of words. */
  readonly words?: readonly TranscriptWord[]
}

/** An engine that turns the speech of a recording into text. */
export interface Transcriber {
  /** Its name in the log and in `service.info`. */
  readonly name: string
  /** Whether it can give times. Without them, the formats `srt` and `vtt` are refused. Its server may still be unable to. */
  readonly givesTimes: boolean
  /** The languages that it has, as BCP 47 tags. Absent if it does not say so; `transcribe` may then throw a `LanguageError`. */
  readonly languages?: readonly string[]
  /**
   * Transcribes a recording. One without words is no failure: its text is empty.
   * @throws {LanguageError} if it does not have the language, an `EngineError` to say whether a failure passes by itself, or any other
   * error, which counts as `engine_failed`
   */
  transcribe(recording: Recording): Promise<Transcript>
}

/** The engine does not have the language of the recording. */
export class LanguageError extends Error {
  /** The name of the class. */
  override readonly name = 'LanguageError'
}

/** The language of a tag without script and region: `pt` of `pt-BR`. */
export function primaryLanguage(tag: string): string {
  return tag.split('-')[0]?.toLowerCase() ?? tag
}

/** Whether an engine says that it has a language. A dialect is understood with its language: `en-GB` by `en`. */
export function knows({ languages }: Pick<Transcriber, 'languages'>, tag: string | undefined): boolean {
  if (!languages || tag === undefined) return true
  return languages.some((language) => primaryLanguage(language) === primaryLanguage(tag))
}

/** How an engine failed: `engine_failed` lasts until the operator acts, `engine_unavailable` passes by itself. */
export type EngineFailure = 'engine_failed' | 'engine_unavailable'

const RETRY_AFTER_SECONDS: Readonly<Record<EngineFailure, number>> = {
  engine_failed: 60,
  engine_unavailable: 10,
}
const MAX_RETRY_AFTER_SECONDS = 3_600

/** A transcription engine failed. The message is for the log, and holds neither speech nor a key. */
export class EngineError extends Error {
  /** The name of the class. */
  override readonly name = 'EngineError'
  /** Which kind of failure it is, which decides what the caller is told. */
  readonly code: EngineFailure
  /** When the caller may try again, from one second to an hour. */
  readonly retryAfterSeconds: number
  /** The part of the recording that failed, and the reason, for the application; absent when they are for the operator alone. */
  readonly detail: string | undefined

  constructor(
    code: EngineFailure,
    message: string,
    options: ErrorOptions & {
      readonly retryAfterSeconds?: number | undefined
      readonly detail?: string | undefined
    } = {},
  ) {
    super(message, options)
    this.code = code
    this.detail = options.detail
    const seconds = options.retryAfterSeconds ?? RETRY_AFTER_SECONDS[code]
    this.retryAfterSeconds = Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS)
  }
}

/** The same failure as an `EngineError`. An engine that took too long is unavailable; all others failed. */
export function ensureEngineError(engine: string, error: unknown): EngineError {
  if (error instanceof EngineError) return error
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError'
  const message = error instanceof Error ? error.message : 'unknown failure'
  return new EngineError(isTimeout ? 'engine_unavailable' : 'engine_failed', `${engine}: ${message}`, {
    cause: error,
  })
}
