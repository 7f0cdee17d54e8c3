/** The forms of a transcript, by their names in the HTTP API. */
export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const

/**
 * The form of a transcript. `json`: text, length and language. `text`: the text alone. `srt` and `vtt`: a file of subtitles.
 * `verbose_json`: like `json`, with the times of segments and words, as far as the engine of the service gives them.
 */
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

/** A part of a transcript, such as a sentence, and when it is spoken. */
export interface TranscriptSegment {
  /** The text of this part. */
  readonly text: string
  /** When it begins, in seconds of the recording. */
  readonly startSeconds: number
  /** When it ends, in seconds of the recording. */
  readonly endSeconds: number
}

/** A word of a transcript, and when it is spoken. */
export interface TranscriptWord {
  /** The word as it was recognized. */
  readonly word: string
  /** When it begins, in seconds of the recording. */
  readonly startSeconds: number
  /** When it ends, in seconds of the recording. */
  readonly endSeconds: number
}

/** The steps of a transcription, after the recording has arrived. */
export const TRANSCRIPTION_STATES = ['decoding', 'transcribing'] as const

/** How far the transcription of a recording has come. */
export interface TranscriptionProgress {
  /** `decoding`: the service reads the file. `transcribing`: the engine turns its sound into text. */
  readonly state: (typeof TRANSCRIPTION_STATES)[number]
  /** How much of the recording is transcribed. An engine that does not say so stays at 0. */
  readonly seconds?: number
  /** Length of the recording, as soon as it is known. */
  readonly durationSeconds?: number
  /** What was recognized since the call before, if the engine says so. */
  readonly text?: string
}

/** Requests the transcript of a recording. */
export interface TranscribeRequest {
  /**
   * The URL of an audio or video file, which the service downloads, or the path of a local file, which is uploaded.
   * Everything that does not begin with `http://` or `https://` is a path, so never pass user input here without
   * checking that it is a URL.
   */
  readonly file: string
  /** The language of the speech, as a BCP 47 tag such as `en`, for engines that know several. */
  readonly language?: string | undefined
  /** Text that helps the engine, such as names that occur in the recording; for engines that accept one. */
  readonly prompt?: string | undefined
  /** The form of the transcript. Defaults to `json`. */
  readonly format?: TranscriptFormat | undefined
  /** Called while the recording is being transcribed, as far as the service reports its progress. */
  readonly onProgress?: ((progress: TranscriptionProgress) => void) | undefined
  /** Ends the call, which then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/** Why the service refused to transcribe a recording. */
export type TranscriptionRefusal =
  /** The service has no transcription engine. */
  | { readonly reason: 'transcription_unavailable' }
  /** The service is already transcribing its maximum number of recordings. */
  | { readonly reason: 'busy'; readonly retryAfterSeconds: number }
  /** The service does not download from this URL: it is not https, not public, or redirects (R87). */
  | { readonly reason: 'address_refused' }
  /** The file could not be downloaded, or not in time. */
  | { readonly reason: 'fetch_failed' }
  | { readonly reason: 'file_too_large' }
  | { readonly reason: 'recording_too_long' }
  /** The file is not a recording, or its format is not supported. */
  | { readonly reason: 'unsupported_media' }
  /** The engine of the service gives no times, which subtitles need. */
  | { readonly reason: 'timestamps_unavailable' }

/** The transcript of a recording. */
export interface Transcribed {
  /** Says that this is no refusal. */
  readonly outcome: 'transcribed'
  /** The text, empty if no words were recognized; with the format `srt` or `vtt`, the file of subtitles. */
  readonly text: string
  /** Length of the recording, if the service says so. */
  readonly durationSeconds?: number
  /** The language that was recognized, as the service names it, if it does. */
  readonly language?: string
  /** With the format `verbose_json`: the parts of the text with their times, if the engine gives them. */
  readonly segments?: readonly TranscriptSegment[]
  /** With the format `verbose_json`: the words with their times, if the engine gives them. */
  readonly words?: readonly TranscriptWord[]
}

/** The response to a `TranscribeRequest`. */
export type TranscribeAnswer =
  | Transcribed
  | { readonly outcome: 'refused'; readonly refusal: TranscriptionRefusal }
