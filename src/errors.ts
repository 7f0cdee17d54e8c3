/** What every error of this package has: a literal code for programs, a status for Express. */
export abstract class MfaError extends Error {
  abstract readonly code: string
  /** HTTP status for whoever answers the request. */
  abstract readonly status: number

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The options are wrong. Thrown when the app starts; the message lists every fault, each with its remedy (R18). */
export class OptionsError extends MfaError {
  readonly code = 'ERR_MFA_OPTIONS'
  readonly status = 500
  /** One sentence a fault. */
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `The options given to countersign cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    )
    this.faults = faults
  }
}

/** What can be wrong with the app around this package. */
export type HostErrorCode =
  | 'ERR_MFA_NO_SESSION'
  | 'ERR_MFA_COOKIE_SESSION'
  | 'ERR_MFA_NO_PASSPORT'
  | 'ERR_MFA_NO_GATE'
  | 'ERR_MFA_MOUNT_PATH'
  | 'ERR_MFA_USER_ID'
  | 'ERR_MFA_FACTORS'
  | 'ERR_MFA_POLICY'

/** The app around this package is wired in a way that cannot work. Thrown at the first request that shows it. */
export class HostError extends MfaError {
  readonly code: HostErrorCode
  readonly status = 500

  constructor(code: HostErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The session ended, or moved on, while a code was being checked; the late answer counts for nothing (R06, R07). */
export class SessionEndedError extends MfaError {
  readonly code = 'ERR_MFA_SESSION_ENDED'
  readonly status = 401
}

/** The session store failed: nobody is signed in by a session that was not saved (R09). */
export class SessionStoreError extends MfaError {
  readonly code = 'ERR_MFA_SESSION_STORE'
  readonly status = 503
}

/** The store of the counters failed: nothing is evaluated uncounted. */
export class LimitsStoreError extends MfaError {
  readonly code = 'ERR_MFA_LIMITS_STORE'
  readonly status = 503
}

/** The store of trusted devices failed. At sign-in the question is asked then; nothing is trusted unseen. */
export class TrustStoreError extends MfaError {
  readonly code = 'ERR_MFA_TRUST_STORE'
  readonly status = 503
}

/** How a service can fail. */
export type ServiceErrorCode =
  /** It could not be reached, or said itself that it cannot work (5xx). */
  | 'ERR_MFA_SERVICE_UNAVAILABLE'
  /** It did not answer in time. */
  | 'ERR_MFA_SERVICE_TIMEOUT'
  /** It answered something that is neither yes nor no: HTML, a redirect, a cut or oversized body (R75). */
  | 'ERR_MFA_SERVICE_ANSWER'
  /** It does not accept the API key. */
  | 'ERR_MFA_SERVICE_KEY'
  /** It failed several times in a row and is left alone for a moment; `retryAfterSeconds` says for how long. */
  | 'ERR_MFA_SERVICE_PAUSED'
  /** It says that the request itself is wrong: a setting of the dialect does not fit it. */
  | 'ERR_MFA_SERVICE_REQUEST'

/**
 * What a service that failed may have done all the same. `none`: certainly nothing, since it was never asked, or said
 * itself that it failed or refuses. `unknown`: it was asked, and what it answered, if anything, does not tell.
 */
export type ServiceEffect = 'none' | 'unknown'

/**
 * The MFA service failed. Nobody is signed in by it, and no try is spent on it (R77). The message holds no code,
 * contact, key or text of the service's answer (R78, R84).
 */
export class ServiceError extends MfaError {
  readonly code: ServiceErrorCode
  readonly status: 502 | 503
  /** When asking again makes sense, if that is known. */
  readonly retryAfterSeconds: number | undefined
  /**
   * What may have been done all the same: a message that may have gone out stays counted (R43). Defaults to `unknown`
   * for `ERR_MFA_SERVICE_TIMEOUT` and `ERR_MFA_SERVICE_ANSWER`, to `none` for the others.
   */
  readonly effect: ServiceEffect

  constructor(
    code: ServiceErrorCode,
    message: string,
    options?: ErrorOptions & { readonly retryAfterSeconds?: number; readonly effect?: ServiceEffect },
  ) {
    super(message, options)
    this.code = code
    this.retryAfterSeconds = options?.retryAfterSeconds
    this.status = code === 'ERR_MFA_SERVICE_ANSWER' ? 502 : 503
    const tellsNothing = code === 'ERR_MFA_SERVICE_TIMEOUT' || code === 'ERR_MFA_SERVICE_ANSWER'
    this.effect = options?.effect ?? (tellsNothing ? 'unknown' : 'none')
  }
}
