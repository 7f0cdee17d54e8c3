import type { TranscriptionRefusal } from 'countersign'

/** Every `code` this app's own problem answers carry; the codes of `/mfa` are the plugin's. */
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
  unavailable: 503,
  transcription_unavailable: 501,
  busy: 429,
  address_refused: 422,
  fetch_failed: 422,
  file_too_large: 413,
  recording_too_long: 422,
  unsupported_media: 415,
  no_speech: 422,
}

const TITLE: Readonly<Record<VaultProblemCode, string>> = {
  invalid_request: 'That could not be understood',
  invalid_credentials: 'Wrong name or password',
  too_many_attempts: 'Too many attempts',
  sign_in_required: 'Sign in first',
  cross_site: 'That came from another site',
  wrong_password: 'Wrong current password',
  insufficient_funds: 'Not enough money',
  not_found: 'Nothing here',
  not_available: 'Not available here',
  unsupported_media_type: 'That kind of content is not understood',
  body_too_large: 'That was too much',
  internal_error: 'Something went wrong on our side',
  unavailable: 'This is not working right now',
  transcription_unavailable: 'Nobody here can listen',
  busy: 'Too much to listen to at once',
  address_refused: 'That address cannot be used',
  fetch_failed: 'There is no file at that address',
  file_too_large: 'That file is too large',
  recording_too_long: 'That recording is too long',
  unsupported_media: 'That is not a recording',
  no_speech: 'No words were heard',
}

/** A "no" on its way to the person: thrown by a handler, answered by the error handler as a page or as JSON. */
export class Problem extends Error {
  readonly code: VaultProblemCode
  /** One sentence for the person; holds nothing that is not theirs to know. */
  readonly detail: string
  /** When asking again makes sense. */
  readonly retryAfterSeconds: number | undefined

  constructor(code: VaultProblemCode, detail: string, retryAfterSeconds?: number) {
    super(detail)
    this.name = 'Problem'
    this.code = code
    this.detail = detail
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** The HTTP status that goes with the code. */
  get status(): number {
    return STATUS[this.code]
  }

  /** A short heading for the code. */
  get title(): string {
    return TITLE[this.code]
  }
}
