import type { Duration } from '../time.js'

/** The forms of a transcript, by their names in the HTTP API. */
export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const

/**
 * The form of a transcript. `json`: text, length and language. `text`: the text alone. `srt` and `vtt`: a file of subtitles.
 * `verbose_json`: like `json`, with the times of segments and words, if the engine of the service gives them.
 */
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

/** When a part of a transcript is spoken, and how it was heard. */
interface Spoken {
  /** When it begins, in seconds of the recording. */
  readonly startSeconds: number
  /** When it ends, in seconds of the recording. */
  readonly endSeconds: number
  /** How sure the engine is, from 0 to 1, if it says so. */
  readonly confidence?: number
  /** Who speaks, as the engine names the speakers, such as `0` or `A`; if it tells them apart. */
  readonly speaker?: string
}

/** A part of a transcript, such as a sentence, and when it is spoken. */
export interface TranscriptSegment extends Spoken {
  /** The text of this part. */
  readonly text: string
}

/** A word of a transcript, and when it is spoken. */
export interface TranscriptWord extends Spoken {
  /** The word as it was recognized. */
  readonly word: string
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
  /** The text recognized since the call before, if the engine says so. */
  readonly text?: string
}

/** Requests the transcript of a recording. */
export interface TranscribeRequest {
  /**
   * The URL of an audio or video file, which the service downloads, or the path of a local file, which is uploaded. Everything
   * that does not begin with `http://` or `https://` is a path, so never pass user input here without checking that it is a URL.
   */
  readonly file: string
  /** The language of the speech, as a BCP 47 tag such as `en`. Refused if the engine of the service does not have it. */
  readonly language?: string | undefined
  /** Text that helps the engine, such as names that occur in the recording; for engines that accept one. */
  readonly prompt?: string | undefined
  /** The form of the transcript. Defaults to `json`. */
  readonly format?: TranscriptFormat | undefined
  /** Called while the recording is being transcribed, if the service reports its progress. */
  readonly onProgress?: ((progress: TranscriptionProgress) => void) | undefined
  /** For a client over HTTP: how long the call may take in all, with the upload, `1s` to `6h`. Defaults to `60s`. */
  readonly timeout?: Duration | undefined
  /** Ends the call, which then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/** Why the service refused to transcribe a recording. */
export type TranscriptionRefusal =
  /** The service has no transcription engine. */
  | { readonly reason: 'transcription_unavailable' }
  /** The service is already transcribing its maximum number of recordings. */
  | { readonly reason: 'busy'; readonly retryAfterSeconds: number }
  /** The service does not download from this URL: it, or an address to which it redirects, is not https or not public, or it redirects more than three times (R87). */
  | { readonly reason: 'address_refused' }
  /** The file could not be downloaded, or not in time; `detail` says why, if the service does. */
  | { readonly reason: 'fetch_failed'; readonly detail?: string }
  | { readonly reason: 'file_too_large' }
  | { readonly reason: 'recording_too_long' }
  /** The file is not a recording, or its format is not supported, or it contains no sound. */
  | { readonly reason: 'unsupported_media'; readonly detail?: string }
  /** So much of the file cannot be decoded that the rest is noise. */
  | { readonly reason: 'recording_damaged' }
  /** The engine of the service does not have the language. */
  | { readonly reason: 'language_unavailable' }
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
  /** How sure the engine is of the whole text, from 0 to 1, if it says so. */
  readonly confidence?: number
  /** With the format `verbose_json`: the parts of the text with their times, if the engine gives them. */
  readonly segments?: readonly TranscriptSegment[]
  /** With the format `verbose_json`: the words with their times, if the engine gives them. */
  readonly words?: readonly TranscriptWord[]
}

/** The response to a `TranscribeRequest`. */
export type TranscribeAnswer =
  | Transcribed
  | { readonly outcome: 'refused'; readonly refusal: TranscriptionRefusal }

/** The states of a job. */
export const JOB_STATES = ['queued', 'running', 'done', 'failed'] as const

/** Requests a transcript without waiting for it. */
export type TranscriptionJobRequest = Omit<TranscribeRequest, 'onProgress' | 'signal'>

/** A recording that the service transcribes without a caller who waits. */
export interface TranscriptionJob {
  /** Names the job in later calls. */
  readonly id: string
  /** `queued`: it waits for its turn. `running`: it is being transcribed. `done` and `failed`: it has ended. */
  readonly state: (typeof JOB_STATES)[number]
  /** In milliseconds since 1970. */
  readonly createdAt: number
  /** When the service deletes the job and its transcript, in milliseconds since 1970. */
  readonly expiresAt: number
  /** Of a job that is `done`. */
  readonly transcript?: Transcribed
  /** Why a job `failed`: a `reason` of `TranscriptionRefusal`, or the code of another problem of the service, such as `engine_failed`. */
  readonly failure?: string
  /** Describes the problem exactly, if the service does, such as by the status of the host of the file. */
  readonly failureDetail?: string
}

/** The response to a `TranscriptionJobRequest`. */
export type CreatedTranscriptionJob =
  | { readonly outcome: 'created'; readonly job: TranscriptionJob }
  | {
      readonly outcome: 'refused'
      readonly refusal:
        | TranscriptionRefusal
        /** The application has too many jobs, or their recordings are too large in all. */
        | { readonly reason: 'too_many_jobs'; readonly retryAfterSeconds: number }
    }

/** The methods of a service that transcribes recordings as jobs. */
export interface TranscriptionJobVerbs {
  /** Transcribes a recording without waiting for it. The job survives a restart of the service. */
  createTranscriptionJob(request: TranscriptionJobRequest): Promise<CreatedTranscriptionJob>
  /** A job of this application; `undefined` if there is none with this id, or if it has expired. */
  transcriptionJob(id: string): Promise<TranscriptionJob | undefined>
  /** Cancels a job, or deletes its transcript. Whether there was one. */
  deleteTranscriptionJob(id: string): Promise<boolean>
}

/** Part of the transcript of a stream. */
export type TranscriptPiece =
  /** The text that the engine has heard since the last `final` piece. The next piece replaces it. */
  | { readonly type: 'partial'; readonly text: string }
  /** Text that no longer changes. */
  | {
      readonly type: 'final'
      readonly text: string
      /** When the speech began, in milliseconds since the start of the audio. */
      readonly startMs: number
      /** When the speech ended, in milliseconds since the start of the audio. */
      readonly endMs: number
    }

/** Options of a stream. */
export interface LiveOptions {
  /** The language of the speech, as a BCP 47 tag such as `en`, for engines that know several. */
  readonly language?: string | undefined
  /** Ends the stream when it aborts; the iterator then throws the reason. */
  readonly signal?: AbortSignal | undefined
}

/** Lets a browser open one stream without the API key. */
export interface StreamTicket {
  /** The value of the query parameter `ticket` of the stream's address. */
  readonly ticket: string
  /** How long the ticket is valid. */
  readonly expiresInSeconds: number
}

/** The methods of a service that transcribes audio while it is being recorded. */
export interface LiveTranscriptionVerbs {
  /**
   * Transcribes audio while it is being recorded: 16,000 samples per second, 16 bits, little-endian, one channel, in chunks
   * of any length. The iterator yields the transcript piece by piece, ends after the last one, and throws a
   * `TranscriptionError` if the service ends the stream. Audio is read only as fast as the service takes it.
   */
  transcribeLive(audio: AsyncIterable<Uint8Array>, options?: LiveOptions): AsyncIterable<TranscriptPiece>
  /** Issues a ticket with which a browser opens one stream itself. Throws a `TranscriptionError` if there is no engine. */
  createStreamTicket(): Promise<StreamTicket>
}

/** A service that turns speech into text. */
export interface TranscriptionService extends LiveTranscriptionVerbs, TranscriptionJobVerbs {
  /** Transcribes a recording. Throws Node's own error if a path cannot be read. */
  transcribe(request: TranscribeRequest): Promise<TranscribeAnswer>
}
