import type { TranscribeAnswer } from 'countersign/speech'

/** Why a recording was not transcribed. */
export type TranscriptionRefusal = Extract<TranscribeAnswer, { outcome: 'refused' }>['refusal']

/** Every `code` of this app's own problems. The codes of `/mfa` belong to the plugin. */
export type VaultProblemCode =
  | 'invalid_request'
  | 'invalid_credentials'
  | 'too_many_attempts'
  | 'sign_in_required'
  | 'cross_site'
  | 'wrong_password'
  | 'insufficient_funds'
  | 'not_found'
  | 'not_available'
  | 'unsupported_media_type'
  | 'body_too_large'
  | 'internal_error'
  | 'service_unavailable'
  | 'unavailable'
  | TranscriptionRefusal['reason']

const STATUS: Readonly<Record<VaultProblemCode, number>> = {
  invalid_request: 400,
  invalid_credentials: 401,
  too_many_attempts: 429,
  sign_in_required: 401,
  cross_site: 403,
  wrong_password: 400,
  insufficient_funds: 400,
  not_found: 404,
  not_available: 404,
  unsupported_media_type: 415,
  body_too_large: 413,
  internal_error: 500,
  service_unavailable: 503,
  unavailable: 503,
  transcription_unavailable: 501,
  busy: 429,
  address_refused: 422,
  fetch_failed: 422,
  file_too_large: 413,
  recording_too_long: 422,
  unsupported_media: 415,
  recording_damaged: 422,
  language_unavailable: 422,
  timestamps_unavailable: 422,
}

const TITLE: Readonly<Record<VaultProblemCode, string>> = {
  invalid_request: 'The request is invalid',
  invalid_credentials: 'Wrong user name or password',
  too_many_attempts: 'Too many attempts',
  sign_in_required: 'Sign in first',
  cross_site: 'The request came from another site',
  wrong_password: 'Wrong current password',
  insufficient_funds: 'Not enough money',
  not_found: 'Page not found',
  not_available: 'Not available',
  unsupported_media_type: 'Unsupported content type',
  body_too_large: 'The request is too large',
  internal_error: 'Something went wrong on our side',
  service_unavailable: 'Not available right now',
  unavailable: 'Not available right now',
  transcription_unavailable: 'Transcription is not available',
  busy: 'Too many recordings at once',
  address_refused: 'This address cannot be used',
  fetch_failed: 'No file was found at this address',
  file_too_large: 'The file is too large',
  recording_too_long: 'The recording is too long',
  unsupported_media: 'The file is not a recording',
  recording_damaged: 'The file is damaged',
  language_unavailable: 'The language is not available',
  timestamps_unavailable: 'Subtitles are not available',
}

/** A refusal that a handler throws. The error handler responds with a page or JSON. */
export class Problem extends Error {
  readonly code: VaultProblemCode
  /** One sentence for the user, without internals. */
  readonly detail: string
  /** When to try again. */
  readonly retryAfterSeconds: number | undefined

  constructor(code: VaultProblemCode, detail: string, retryAfterSeconds?: number) {
    super(detail)
    this.name = 'Problem'
    this.code = code
    this.detail = detail
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** The HTTP status of the code. */
  get status(): number {
    return STATUS[this.code]
  }

  /** A short title of the code. */
  get title(): string {
    return TITLE[this.code]
  }
}
