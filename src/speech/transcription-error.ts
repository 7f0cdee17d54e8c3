import { MfaError } from '../errors.js'

/** Why a recording or a stream was not transcribed: a `reason` of `TranscriptionRefusal`, or why a stream ended. */
export type TranscriptionFailure =
  | 'transcription_unavailable'
  | 'busy'
  | 'address_refused'
  | 'fetch_failed'
  | 'file_too_large'
  | 'recording_too_long'
  | 'unsupported_media'
  /** The engine gives no times, which subtitles need. */
  | 'recording_damaged'
  | 'language_unavailable'
  | 'timestamps_unavailable'
  /** The service does not understand what it was sent. */
  | 'invalid_message'
  /** Neither audio nor a keep-alive arrived for ten seconds. */
  | 'idle'
  | 'stream_too_long'
  | 'engine_failed'
  | 'engine_unavailable'
  /** The service is shutting down. */
  | 'unavailable'
  | 'connection_lost'

/** The service did not transcribe a recording or a stream to its end. Text that arrived before is correct, but incomplete. */
export class TranscriptionError extends MfaError {
  /** Always `ERR_MFA_TRANSCRIPTION`, for programs. */
  readonly code = 'ERR_MFA_TRANSCRIPTION'
  /** The HTTP status: 422 if the caller must change something, 501 without an engine, otherwise 503. */
  readonly status: 422 | 501 | 503
  /** Why it was not transcribed, for programs. */
  readonly reason: TranscriptionFailure
  /** When to try again, if that is known. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    reason: TranscriptionFailure,
    message: string,
    options?: ErrorOptions & { readonly retryAfterSeconds?: number },
  ) {
    super(message, options)
    this.reason = reason
    this.retryAfterSeconds = options?.retryAfterSeconds
    if (reason === 'transcription_unavailable') this.status = 501
    else this.status = PASSING_FAILURES.includes(reason) ? 503 : 422
  }
}

const PASSING_FAILURES: readonly TranscriptionFailure[] = [
  'busy',
  'engine_failed',
  'engine_unavailable',
  'unavailable',
  'connection_lost',
]
