import { MfaError } from '../errors.js'
import type { StreamErrorCode } from './stream.js'
import type { TranscriptionRefusal } from './transcription.js'

/** Why a recording or a stream was not transcribed: a `reason` of `TranscriptionRefusal`, or why a stream ended. */
export type TranscriptionFailure = TranscriptionRefusal['reason'] | StreamErrorCode | 'connection_lost'

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
    options?: ErrorOptions & { readonly retryAfterSeconds?: number | undefined },
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
