import type { Contact } from './contact.js'
import type { BackupMethod, CodeKind, DeliveredMethod, Method } from './methods.js'

/** What a code is asked for; messages name it (R45) and the service binds the code to it (R38). */
export type Purpose = 'sign-in' | 'step-up' | 'enrolment'

/** Who asks: known to the host app, told to a service that wants to know. */
export interface Caller {
  /**
   * The host's own name for the account, opaque to the service. All factors of one account share its budget of
   * wrong codes (R23). Without it the contact stands for the account.
   */
  readonly account?: string
  /** Address of the browser, as the host app is configured to see it (R31). */
  readonly clientAddress?: string
  /** Language of the message, a BCP 47 tag. Defaults to the application's language. */
  readonly locale?: string
}

/** Asks for a one-time code to be made and delivered. */
export interface SendRequest extends Caller {
  readonly method: DeliveredMethod
  readonly contact: Contact
  /** The service's name of a living challenge whose code is to be sent again. */
  readonly challenge?: string
  /**
   * The host's own name for what the code is for, such as one half-login; opaque to the service. A code counts only
   * in the transaction it was asked in (R38), and a right code forgives the wrong app and backup codes of its own
   * transaction (R25).
   */
  readonly transaction?: string
  /** Defaults to `sign-in`. */
  readonly purpose?: Purpose
}

/** A service's everyday "no". Never thrown: a failure of the service is thrown, as a `ServiceError`. */
export type ServiceRefusal =
  /** Too many messages; ask again after the wait. */
  | { readonly reason: 'limited'; readonly retryAfterSeconds: number }
  /** Too many wrong codes on this account; nothing is evaluated until the wait is over. */
  | { readonly reason: 'locked'; readonly retryAfterSeconds: number }
  /** The factor was disabled after too many failures and must be bound again (R26). */
  | { readonly reason: 'factor_disabled' }
  /** The application does not offer this method, or its tier does not include it: `detail` says which. */
  | { readonly reason: 'method_off'; readonly detail?: string }
  /** The contact cannot be reached by this method: not a telephone number in use, a country not served … */
  | { readonly reason: 'contact_refused' }
  /** The carrier or mail server refused the message for good. */
  | { readonly reason: 'delivery_failed' }

export type Refused = { readonly outcome: 'refused'; readonly refusal: ServiceRefusal }

export type SendAnswer =
  | {
      /** `queued`: accepted, but not yet handed to the carrier. */
      readonly outcome: 'sent' | 'queued'
      /** The service's name of the challenge, if it gives one; sent back with the code. */
      readonly challenge?: string
      /** Life of the code from now, if the service tells. */
      readonly expiresInSeconds?: number
      /** Wait before the code may be sent again, if the service tells. */
      readonly resendInSeconds?: number
    }
  | Refused

/** Asks whether a code is right. Whatever may be used once is used up by asking. */
export interface VerifyRequest extends Caller {
  /** The method by which the code came, or which it belongs to. */
  readonly method: Method
  readonly contact: Contact
  /** In canonical form. */
  readonly code: string
  /** What the code is meant as (R91). A service that cannot be told takes it as any. */
  readonly kind: CodeKind
  /** The service's name of the challenge, when it gave one: the code counts for that challenge alone (R38). */
  readonly challenge?: string
  /** The host's name of what the code was asked for, as it was given to `send`. */
  readonly transaction?: string
}

export type VerifyAnswer =
  | {
      readonly outcome: 'valid'
      /** After a backup code: how many of its set are left, if the service tells. */
      readonly backupCodesLeft?: number
    }
  | {
      readonly outcome: 'invalid'
      /** An app made the code so many steps of 30 s ago (negative), if the service tells: its clock seems to be slow. */
      readonly clockSteps?: number
    }
  | Refused

/** Asks for a new authenticator app secret. It proves nothing until its first right code has been verified. */
export interface EnrollAppRequest extends Caller {
  /** A mailbox or a telephone number; the app shows it beside the code. */
  readonly contact: Contact
}

export type EnrollAppAnswer =
  | {
      readonly outcome: 'prepared'
      /** The QR code as a `data:image/…` URL. */
      readonly qr: string
      /** The `otpauth://` address in the QR code, if the service gives it. */
      readonly uri?: string
      /** The base32 secret for typing, if the service gives it. */
      readonly secret?: string
    }
  | Refused

/** Asks for a new set of backup codes, delivered to the person; the old set dies. */
export interface BackupRequest extends Caller {
  readonly method: BackupMethod
  readonly contact: Contact
}

export type BackupAnswer =
  | {
      readonly outcome: 'sent' | 'queued'
      /** How many codes were made, if the service tells. */
      readonly count?: number
    }
  | Refused

/** How the latest message of a challenge stands; of the two of DUAL, the worse. */
export interface DeliveryState {
  /** `refused`: a carrier said never. `expired`: nobody took it in its time. */
  readonly status: 'queued' | 'sent' | 'refused' | 'expired'
  readonly channel: 'email' | 'sms' | 'whatsapp' | 'call'
  /** Where it went, masked (R46). */
  readonly to: string
  /** What carried it, or was tried last. */
  readonly carrier?: string
  /** When this became so, in milliseconds since 1970. */
  readonly updatedAt: number
}

/** Asks for the words of a recording. */
export interface TranscribeRequest {
  /**
   * Address of an audio or video file, which the service fetches; anything that does not begin with `http://` or
   * `https://` is the path of a file on the machine of whoever calls, which is read and uploaded. Text that came from
   * a person must therefore be known to be an address before it is given here.
   */
  readonly file: string
}

/** A service's everyday "no" to a recording. */
export type TranscriptionRefusal =
  /** The service has nothing to transcribe with. */
  | { readonly reason: 'transcription_unavailable' }
  /** As many recordings are being transcribed as the service takes at once. */
  | { readonly reason: 'busy'; readonly retryAfterSeconds: number }
  /** The service does not fetch from such an address: not https, not public, or one that redirects (R87). */
  | { readonly reason: 'address_refused' }
  /** There is no file to be had at the address, or not in time. */
  | { readonly reason: 'fetch_failed' }
  | { readonly reason: 'file_too_large' }
  | { readonly reason: 'recording_too_long' }
  /** Not a recording, or of a kind that the service does not decode. */
  | { readonly reason: 'unsupported_media' }
  /** A recording in which no words were found. */
  | { readonly reason: 'no_speech' }

export type TranscribeAnswer =
  | {
      readonly outcome: 'transcribed'
      readonly text: string
      /** Length of the recording, if the service tells. */
      readonly durationSeconds?: number
      /** Language that was heard, as the service names it, if it does. */
      readonly language?: string
    }
  | { readonly outcome: 'refused'; readonly refusal: TranscriptionRefusal }

/**
 * An MFA service, whoever speaks for it: the HTTP client, the self-hosted service in the same process, a test's own.
 * Every verb answers with a value for what happens every day and throws a `ServiceError` when the service itself
 * fails, so that "no" and "don't know" are never mistaken for each other.
 */
export interface MfaService {
  /** Makes a code and delivers it. */
  send(request: SendRequest): Promise<SendAnswer>
  /** Checks a code and uses it up. */
  verify(request: VerifyRequest): Promise<VerifyAnswer>
  /** Prepares an authenticator app. */
  enrollApp(request: EnrollAppRequest): Promise<EnrollAppAnswer>
  /** Makes backup codes and delivers them. */
  sendBackupCodes(request: BackupRequest): Promise<BackupAnswer>
  /**
   * Tells how the message of a challenge stands, so that a page can offer another way when a carrier refused it;
   * nothing when there is no such challenge. Optional.
   */
  deliveryOf?(request: { readonly challenge: string }): Promise<DeliveryState | undefined>
  /** Writes down what is said in a recording. A path that cannot be read throws Node's own error. */
  transcribe(request: TranscribeRequest): Promise<TranscribeAnswer>
  /** Lets go of sockets and files. Optional; called by whoever built the service. */
  close?(): Promise<void>
}

/**
 * What a service does for the app: delivering codes, checking them, or telling what became of a message. It may fail at
 * one and be well at the other, as when only the carrier is down.
 */
export type ServicePart = 'delivery' | 'checking' | 'delivery_state'
