import { decodeAudio } from './client/decode-audio.js'
import { unsupportedJobs } from './client/job-client.js'
import { unsupportedLive } from './client/live-client.js'
import { httpService } from './client/service.js'
import { withPhoneFormat } from './client/verb-client.js'
import { TranscriptionError } from './errors.js'
import type { ServiceAddress } from './options/service.js'
import { readServiceAddress } from './options/settings.js'
import type { CompleteMfaService } from './protocol/service.js'
import type {
  CreatedTranscriptionJob,
  LiveOptions,
  StreamTicket,
  Transcribed,
  TranscribeRequest,
  TranscriptFormat,
  TranscriptionJob,
  TranscriptionJobRequest,
  TranscriptionRefusal,
  TranscriptionService,
  TranscriptPiece,
} from './protocol/transcription.js'

/** Options of `mfaClient` beside the service. */
export interface MfaClientOptions {
  /**
   * The country of phone numbers without a country code, as an ISO code such as `GB`. Defaults to none: then such numbers are
   * an error.
   */
  readonly country?: string | undefined
}

/** Options of a stream of the client. */
export interface ClientLiveOptions extends LiveOptions {
  /**
   * The format of the audio: `pcm` for 16,000 samples per second with 16 bits and one channel, or `any` for everything that
   * ffmpeg, which must be installed, can convert to it. Defaults to `pcm`.
   */
  readonly format?: 'pcm' | 'any' | undefined
}

/** What a transcript in this format contains. */
export type TranscriptIn<Format extends TranscriptFormat> = Pick<
  Transcribed,
  | 'outcome'
  | 'text'
  | (Format extends 'json' | 'verbose_json' ? 'durationSeconds' | 'language' : never)
  | (Format extends 'verbose_json' ? 'segments' | 'words' : never)
>

/** A client of an MFA service over HTTP. */
export interface MfaClient extends CompleteMfaService, TranscriptionService {
  /** Transcribes a recording. Throws Node's own error if a path cannot be read. */
  transcribe<Format extends TranscriptFormat = 'json'>(
    request: TranscribeRequest & { readonly format?: Format | undefined },
  ): Promise<TranscriptIn<Format> | { readonly outcome: 'refused'; readonly refusal: TranscriptionRefusal }>
  /**
   * Transcribes audio while it is being recorded. The iterator yields the transcript piece by piece, ends after the last one,
   * and throws a `TranscriptionError` or `ServiceError` if the stream ends early. It does not reconnect, and loses no audio
   * silently: audio is read only as fast as the service takes it.
   */
  transcribeLive(
    audio: AsyncIterable<Uint8Array>,
    options?: ClientLiveOptions,
  ): AsyncIterable<TranscriptPiece>
  /** Issues a ticket with which a browser opens one stream itself. */
  createStreamTicket(): Promise<StreamTicket>
  /**
   * Has a recording transcribed without waiting for it. The job survives a restart of the service. A recording at an address is
   * fetched when its turn comes.
   */
  createTranscriptionJob(request: TranscriptionJobRequest): Promise<CreatedTranscriptionJob>
  /** A job of this application; `undefined` if there is none with this id, or if it has expired. */
  transcriptionJob(id: string): Promise<TranscriptionJob | undefined>
  /** Cancels a job, or deletes its transcript. Whether there was one. */
  deleteTranscriptionJob(id: string): Promise<boolean>
  /**
   * Returns the text of a recording.
   * @throws {TranscriptionError} if the service refuses it.
   */
  transcribeText(request: TranscribeRequest): Promise<string>
  /** Closes the sockets. */
  close(): Promise<void>
}

/**
 * Speaks to an MFA service over HTTP, for scripts and for an app's own use of its verbs. Phone numbers of contacts may be
 * written as people write them, such as `+44 7700 900123`, if libphonenumber-js is installed. `close` lets go of its sockets.
 * @throws {OptionsError}
 */
export function mfaClient(service: ServiceAddress, { country }: MfaClientOptions = {}): MfaClient {
  const client = withPhoneFormat(httpService(readServiceAddress(service)), country)
  const {
    createTranscriptionJob = unsupportedJobs.createTranscriptionJob,
    transcriptionJob = unsupportedJobs.transcriptionJob,
    deleteTranscriptionJob = unsupportedJobs.deleteTranscriptionJob,
    transcribeLive = unsupportedLive.transcribeLive,
    createStreamTicket = unsupportedLive.createStreamTicket,
  } = client

  return {
    ...client,
    async *transcribeLive(audio, { format = 'pcm', ...options } = {}) {
      yield* transcribeLive(format === 'any' ? decodeAudio(audio) : audio, options)
    },
    createStreamTicket,
    createTranscriptionJob,
    transcriptionJob,
    deleteTranscriptionJob,
    async transcribeText(request) {
      const answer = await client.transcribe(request)
      if (answer.outcome === 'transcribed') return answer.text
      throw refusalError(answer.refusal)
    },
  }
}

function refusalError(refusal: TranscriptionRefusal): TranscriptionError {
  return new TranscriptionError(
    refusal.reason,
    `The MFA service did not transcribe the recording: ${refusal.reason}.`,
    'retryAfterSeconds' in refusal ? { retryAfterSeconds: refusal.retryAfterSeconds } : {},
  )
}
