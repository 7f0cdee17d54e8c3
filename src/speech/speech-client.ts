import { httpTransport } from '../client/http-transport.js'
import { identifiedTransport } from '../client/identified-transport.js'
import { COUNTERSIGN } from '../options/dialect.js'
import type { ServiceAddress } from '../options/service.js'
import { readServiceAddress } from '../options/settings.js'
import { decodeAudio } from './decode-audio.js'
import { jobClient, unsupportedJobs } from './job-client.js'
import { liveClient, unsupportedLive } from './live-client.js'
import { callTimeoutMs, sendRecording } from './send-recording.js'
import { createProgressReader, getMaxBytes, lastEvent, readTranscript } from './transcript.js'
import type {
  LiveOptions,
  TranscribeAnswer,
  Transcribed,
  TranscribeRequest,
  TranscriptFormat,
  TranscriptionRefusal,
  TranscriptionService,
  TranscriptPiece,
} from './transcription.js'
import { TranscriptionError } from './transcription-error.js'

/** Options of a stream of the client. */
export interface ClientLiveOptions extends LiveOptions {
  /** `pcm`: 16,000 samples per second, 16 bits, one channel. `any`: what ffmpeg converts. Defaults to `pcm`. */
  readonly format?: 'pcm' | 'any' | undefined
}

/** The contents of a transcript in this format. */
export type TranscriptIn<Format extends TranscriptFormat> = Pick<
  Transcribed,
  | 'outcome'
  | 'text'
  | (Format extends 'json' | 'verbose_json' ? 'durationSeconds' | 'language' : never)
  | (Format extends 'verbose_json' ? 'segments' | 'words' : never)
>

/** A client of a service that turns speech into text. */
export interface SpeechClient extends TranscriptionService {
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
  /** Returns the text of a recording. @throws {TranscriptionError} if the service refuses it. */
  transcribeText(request: TranscribeRequest): Promise<string>
  /** Closes the sockets. */
  close(): Promise<void>
}

/**
 * Creates a client of an MFA service that transcribes, over HTTP. Jobs and streams need the Countersign service; a service that speaks
 * the published API fails them with a `TranscriptionError`. `close` lets go of the client's sockets.
 * @throws {OptionsError}
 */
export function createSpeechClient(service: ServiceAddress): SpeechClient {
  const settings = readServiceAddress(service)
  const { timeoutMs } = settings
  const given = httpTransport(settings)
  const [dialect, transport] =
    settings.dialect === 'detect'
      ? [COUNTERSIGN, identifiedTransport(given, timeoutMs)]
      : [settings.dialect, given]
  const live = dialect.extras ? liveClient(settings, transport) : unsupportedLive

  async function transcribe(request: TranscribeRequest): Promise<TranscribeAnswer> {
    const { format, onProgress, signal, timeout } = request
    const answer = await sendRecording(transport, dialect.paths.transcribe, request, {
      timeoutMs: callTimeoutMs(timeout),
      maxBytes: getMaxBytes(format, onProgress !== undefined),
      signal,
      onEvents: onProgress && createProgressReader(onProgress),
    })
    return readTranscript(lastEvent(answer, format), format)
  }

  return {
    ...live,
    ...(dialect.extras ? jobClient(timeoutMs, transport) : unsupportedJobs),
    transcribe,
    transcribeLive: (audio, { format, ...options } = {}) =>
      live.transcribeLive(format === 'any' ? decodeAudio(audio) : audio, options),
    async transcribeText(request) {
      const answer = await transcribe(request)
      if (answer.outcome === 'transcribed') return answer.text
      const { refusal } = answer
      throw new TranscriptionError(
        refusal.reason,
        `The MFA service did not transcribe the recording: ${refusal.reason}.`,
        'retryAfterSeconds' in refusal ? { retryAfterSeconds: refusal.retryAfterSeconds } : {},
      )
    },
    close: () => transport.close(),
  }
}
