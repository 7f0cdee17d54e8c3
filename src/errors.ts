/** The base class of all errors of this package. */
export abstract class MfaError extends Error {
  /** A stable code for programs, such as `ERR_MFA_OPTIONS`. */
  abstract readonly code: string
  /** The HTTP status of the response, which Express reads. */
  abstract readonly status: number

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The options are invalid. Thrown when the app starts; the message lists all faults and how to fix them (R18). */
export class OptionsError extends MfaError {
  /** Always `ERR_MFA_OPTIONS`, for programs. */
  readonly code = 'ERR_MFA_OPTIONS'
  /** The status is always 500: the app cannot work. */
  readonly status = 500
  /** One sentence for each fault. */
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(`The options of countersign cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.faults = faults
  }
}

/** The codes of a `HostError`. */
export type HostErrorCode =
  | 'ERR_MFA_NO_SESSION'
  | 'ERR_MFA_COOKIE_SESSION'
  | 'ERR_MFA_NO_PASSPORT'
  | 'ERR_MFA_NO_GATE'
  | 'ERR_MFA_TWO_OPTIONS'
  /** The gate belongs to another copy of the package. */
  | 'ERR_MFA_TWO_COPIES'
  | 'ERR_MFA_MOUNT_PATH'
  | 'ERR_MFA_USER_ID'
  | 'ERR_MFA_FACTORS'
  | 'ERR_MFA_POLICY'
  /** Another user has an authenticator app under the contact that `appContact` returned. */
  | 'ERR_MFA_APP_CONTACT'
  | 'ERR_MFA_ACTING'
  | 'ERR_MFA_RESET_APPROVAL'
  /** The service cannot remove an app, and a new app would not be enough for the account. */
  | 'ERR_MFA_RESET_SERVICE'
  | 'ERR_MFA_CALLBACK_TIMEOUT'
  /** A request for a connection did not reach the gate, so `mfa.upgrade` cannot tell who connects. */
  | 'ERR_MFA_UPGRADE'
  /** A function of the option `tokens` returned what cannot be used, or a session was to be created in an app that has none. */
  | 'ERR_MFA_TOKENS'

/** The app around this package is set up in a way that cannot work. Thrown at the first request that shows it. */
export class HostError extends MfaError {
  /** The fault of the setup, for programs. */
  readonly code: HostErrorCode
  /** The status is always 500: the app cannot work. */
  readonly status = 500

  constructor(code: HostErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The session ended or changed during a request, so the result of the request was discarded (R06, R07). */
export class SessionEndedError extends MfaError {
  /** Always `ERR_MFA_SESSION_ENDED`, for programs. */
  readonly code = 'ERR_MFA_SESSION_ENDED'
  /** The status is always 401: the user signs in again. */
  readonly status = 401
}

/** An error for a session that ended during the request. */
export function sessionEnded(): SessionEndedError {
  return new SessionEndedError(
    'The session ended or changed during this request, so its result was discarded. Repeat the request in the current session.',
  )
}

/** The session store failed. A user whose session was not saved is not signed in (R09). */
export class SessionStoreError extends MfaError {
  /** Always `ERR_MFA_SESSION_STORE`, for programs. */
  readonly code = 'ERR_MFA_SESSION_STORE'
  /** The status is always 503: try again later. */
  readonly status = 503
}

/** The counter store failed. No code is checked and no message sent without being counted. */
export class LimitsStoreError extends MfaError {
  /** Always `ERR_MFA_LIMITS_STORE`, for programs. */
  readonly code = 'ERR_MFA_LIMITS_STORE'
  /** The status is always 503: try again later. */
  readonly status = 503
}

/** The store of trusted devices and "this wasn't me" links failed. A sign-in then requires the second factor. */
export class TrustStoreError extends MfaError {
  /** Always `ERR_MFA_TRUST_STORE`, for programs. */
  readonly code = 'ERR_MFA_TRUST_STORE'
  /** The status is always 503: try again later. */
  readonly status = 503
}

/** A request to an endpoint for events does not come from the service, or is too old. */
export class WebhookSignatureError extends MfaError {
  /** Always `ERR_MFA_WEBHOOK_SIGNATURE`, for programs. */
  readonly code = 'ERR_MFA_WEBHOOK_SIGNATURE'
  /** The status of the response: the service repeats the event. */
  readonly status = 401
}

/** The codes of a `ServiceError`. */
export type ServiceErrorCode =
  /** The service could not be reached, or responded with 5xx. */
  | 'ERR_MFA_SERVICE_UNAVAILABLE'
  /** The service did not respond in time. */
  | 'ERR_MFA_SERVICE_TIMEOUT'
  /** The response is invalid: HTML, a redirect, a truncated or oversized body (R75). */
  | 'ERR_MFA_SERVICE_ANSWER'
  /** The service does not accept the API key. */
  | 'ERR_MFA_SERVICE_KEY'
  /** The circuit breaker is open after several failures in a row; `retryAfterSeconds` says for how long. */
  | 'ERR_MFA_SERVICE_PAUSED'
  /** As many requests as are allowed are waiting, in this app or for the account. Nothing was done. */
  | 'ERR_MFA_SERVICE_BUSY'
  /** The service rejects the request as invalid: the option `dialect` does not fit it. */
  | 'ERR_MFA_SERVICE_REQUEST'

/** `none`: the failed call certainly did nothing. `unknown`: it may have sent a message. */
export type ServiceEffect = 'none' | 'unknown'

const PASSING_OUTAGE_SECONDS = 5

/** The MFA service failed. No user is signed in, and the attempt is refunded (R77). The message contains no secret (R78, R84). */
export class ServiceError extends MfaError {
  /** How the service failed, for programs. */
  readonly code: ServiceErrorCode
  /** The HTTP status: 502 for an invalid response of the service, otherwise 503. */
  readonly status: 502 | 503
  /** When to try again, if that is known. Defaults to 5 for failures that often pass: timeout, and service not reached. */
  readonly retryAfterSeconds: number | undefined
  /** The possible effect of the call. Defaults to `unknown` for a late or invalid answer, which stays counted (R43), otherwise to `none`. */
  readonly effect: ServiceEffect

  constructor(
    code: ServiceErrorCode,
    message: string,
    options?: ErrorOptions & Partial<Pick<ServiceError, 'retryAfterSeconds' | 'effect'>>,
  ) {
    super(message, options)
    this.code = code
    const isPassing = code === 'ERR_MFA_SERVICE_TIMEOUT' || code === 'ERR_MFA_SERVICE_UNAVAILABLE'
    this.retryAfterSeconds = options?.retryAfterSeconds ?? (isPassing ? PASSING_OUTAGE_SECONDS : undefined)
    this.status = code === 'ERR_MFA_SERVICE_ANSWER' ? 502 : 503
    const isUnknown = code === 'ERR_MFA_SERVICE_TIMEOUT' || code === 'ERR_MFA_SERVICE_ANSWER'
    this.effect = options?.effect ?? (isUnknown ? 'unknown' : 'none')
  }
}

// A refused API key or request is a response. Nor is the service down for all because one account floods it.
const RESPONSES: readonly ServiceErrorCode[] = [
  'ERR_MFA_SERVICE_KEY',
  'ERR_MFA_SERVICE_REQUEST',
  'ERR_MFA_SERVICE_BUSY',
]

/** Whether this error means that the service is down: it gave no valid response, or is paused because it gave none before. */
export function isOutage(error: unknown): error is ServiceError {
  return error instanceof ServiceError && !RESPONSES.includes(error.code)
}
