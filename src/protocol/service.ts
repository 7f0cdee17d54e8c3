import type { Caller, Contact, UserRequest } from './contact.js'
import type { ApprovalDetails } from './details.js'
import type { KeyVerbs } from './keys.js'
import type {
  BackupMethod,
  CodeKind,
  CodeMethod,
  CodeShapes,
  DeliveredMethod,
  KeyMethod,
  KeyType,
  VerifyType,
} from './methods.js'
import type { Refused } from './service-refusal.js'

/** The purpose of a code. Messages mention it (R45), and the service binds the code to it (R38). */
export type Purpose = 'sign-in' | 'step-up' | 'enrollment' | 'approval'

/** Requests a one-time code. */
export interface SendRequest extends Caller {
  /** The method that delivers the code. */
  readonly method: DeliveredMethod
  /** The contact that the code is sent to. */
  readonly contact: Contact
  /** The id of a valid challenge, to send its code again. */
  readonly challenge?: string
  /**
   * The host's id for what the code is used for, such as a pending login; opaque to the service. A code is valid only in
   * its transaction (R38), and a correct code resets the wrong app and backup codes of that transaction (R25).
   */
  readonly transaction?: string
  /** Defaults to `sign-in`. */
  readonly purpose?: Purpose
  /** With the purpose `approval`: what the message names, and what the code counts for. */
  readonly approval?: ApprovalDetails
}

/** The response to a `SendRequest`. */
export type SendAnswer =
  | {
      /** `queued`: accepted, but not yet handed to the carrier. */
      readonly outcome: 'sent' | 'queued'
      /** The id of the challenge, if the service has one; pass it to `verify`. */
      readonly challenge?: string
      /** How long the code is valid, if the service says so. */
      readonly expiresInSeconds?: number
      /** The wait before the code can be sent again, if the service says so. */
      readonly resendInSeconds?: number
      /** Whether the delivery state will also say if the message arrived (`delivered` or `failed`). */
      readonly deliveryReports?: true
    }
  | Refused

/** Checks a code. A correct code is used up. */
export interface VerifyRequest extends Caller {
  /** The method of the factor that the code belongs to. */
  readonly method: CodeMethod
  /** The contact that the code was sent to, or that the app is enrolled under. */
  readonly contact: Contact
  /** The code in canonical form; a backup code as the user typed it, trimmed, for a service that does not say what `codes` look like. */
  readonly code: string
  /** The kind of the code (R91). A service that does not support kinds accepts any. */
  readonly kind: CodeKind
  /** The id of the challenge, if the service gave one. The code is valid for that challenge only (R38). */
  readonly challenge?: string
  /** The transaction that was passed to `send`. */
  readonly transaction?: string
  /** What the user approves with the code. A code that was sent for something else is wrong. */
  readonly approval?: ApprovalDetails
}

/** The response to a `VerifyRequest`. */
export type VerifyAnswer =
  | {
      readonly outcome: 'valid'
      /**
       * `backup` if the code was accepted as a backup code and could be nothing else. Without it, a code that the user typed
       * as a backup code counts only as a code for its contact (R97).
       */
      readonly kind?: 'backup'
      /** After a backup code: how many are left, if the service says so. */
      readonly backupCodesLeft?: number
      /** `page` if the backup code was shown on a page and sent to no contact. */
      readonly backupDelivery?: 'page'
    }
  | {
      readonly outcome: 'invalid'
      /**
       * For an app with a slow clock: how many 30-second steps ago the code was valid, as a negative number, if the service
       * says so.
       */
      readonly clockSteps?: number
    }
  | Refused

/** Requests a new secret for an authenticator app. The app is not active until its first code was verified. */
export interface EnrollAppRequest extends Caller {
  /** An email address or phone number; the app shows it next to the code. */
  readonly contact: Contact
}

/** The response to an `EnrollAppRequest`. */
export type EnrollAppAnswer =
  | {
      readonly outcome: 'prepared'
      /** The QR code as a `data:image/…` URL. */
      readonly qr: string
      /** The `otpauth://` URI in the QR code, if the service returns it. */
      readonly uri?: string
      /** The base32 secret for manual entry, if the service returns it. */
      readonly secret?: string
    }
  | Refused

/** Requests new backup codes, which are sent to the user and replace the old ones. */
export interface BackupRequest extends Caller {
  /** The method that delivers the codes. */
  readonly method: BackupMethod
  /** The contact that the codes are sent to. */
  readonly contact: Contact
}

/** The response to a `BackupRequest`. */
export type BackupAnswer =
  | {
      readonly outcome: 'sent' | 'queued'
      /** The number of codes, if the service says so. */
      readonly count?: number
    }
  | Refused

/** New backup codes for a page that shows them once. They replace the old ones. */
export type CreatedBackupCodes =
  | {
      readonly outcome: 'created'
      /** The codes as the user writes them down, such as `4T7K-9XQM-2HVD-W3RP`. */
      readonly codes: readonly string[]
    }
  | Refused

/** Removes a factor that the service keeps. */
export interface RemoveFactorRequest extends UserRequest {
  /** The authenticator app, or all backup codes. */
  readonly factor: 'app' | 'backup'
}

/** The response to a `RemoveFactorRequest`. */
export type RemoveFactorAnswer =
  | {
      /** `none`: the account had no such factor. */
      readonly outcome: 'removed' | 'none'
    }
  | Refused

/** A factor that an account has, whether or not it can be used now. */
export interface ExistingFactor {
  /** An authenticator app that is enrolled and confirmed, or a kind of keys. A disabled one counts, too. */
  readonly method: 'app' | KeyMethod
  /** Whether it can be used now: its method is switched on, and for keys, the application has a relying party. */
  readonly usable: boolean
  /** How many digits the codes of an authenticator app have. Defaults to what `codes` says of apps. */
  readonly digits?: number
  /** An authenticator app whose imported secret has fewer than 128 bits, so that its user should set it up again. */
  readonly weak?: true
}

/** The factors of an account, as far as the service keeps them. */
export interface AccountFactors {
  /**
   * Every factor that the account has, each method once. One that cannot be used now must be listed, too: the account has MFA because
   * of it, and its user is not let in by the password alone (R132).
   */
  readonly existing: readonly ExistingFactor[]
  /** The kinds of keys that users can add now. Defaults to none. */
  readonly offeredKeys?: readonly KeyMethod[]
  /** How many backup codes are left that are valid for the contact. */
  readonly backupCodesLeft: number
  /** `page` if the backup codes were shown on a page and sent to no contact. */
  readonly backupDelivery?: 'page'
  /** When factors were last used, as far as the service knows. */
  readonly lastUsed?: readonly FactorUse[]
}

/** When a factor was last used. */
export interface FactorUse {
  /** What the factor's codes are verified as, or the kind of key. */
  readonly type: VerifyType | KeyType | 'BACKUP'
  /** The contact of a factor that receives codes, in canonical form. */
  readonly user?: string
  /** To the hour, in milliseconds since 1970. */
  readonly at: number
}

/** The delivery state of the latest message of a challenge. For DUAL, that of the message with the worse state. */
export interface DeliveryState {
  /**
   * `queued`: no carrier has accepted the message yet. `sent`: a carrier accepted it. `delivered` and `failed`: the carrier reports that it arrived, or did not.
   * `refused`: a carrier permanently refused it. `expired`: no carrier accepted it in time.
   */
  readonly status: 'queued' | 'sent' | 'delivered' | 'failed' | 'refused' | 'expired'
  /** How the message is sent. */
  readonly channel: 'email' | 'sms' | 'whatsapp' | 'call'
  /** The masked recipient (R46). */
  readonly to: string
  /** The carrier that delivered the message or was tried last. */
  readonly carrier?: string
  /** Time of the last change, in milliseconds since 1970. */
  readonly updatedAt: number
}

/**
 * An MFA service: the HTTP client, the self-hosted service in the same process, or an implementation of your own. Each
 * method returns refusals as values, and throws a `ServiceError` if the service itself fails, so that the two are never
 * confused.
 */
export interface MfaService {
  /** Generates a code and delivers it. */
  send(request: SendRequest): Promise<SendAnswer>
  /** Checks a code and uses it up. */
  verify(request: VerifyRequest): Promise<VerifyAnswer>
  /** Creates a secret for an authenticator app. Optional; the routes for authenticator apps require it. */
  enrollApp?(request: EnrollAppRequest): Promise<EnrollAppAnswer>
  /** Generates backup codes and delivers them. Optional; the routes for backup codes require it. */
  sendBackupCodes?(request: BackupRequest): Promise<BackupAnswer>
  /**
   * Returns the delivery state of a challenge's message, so that a page can offer another method if a carrier refused it.
   * `undefined` if the challenge is unknown. Optional.
   */
  deliveryOf?(request: { readonly challenge: string }): Promise<DeliveryState | undefined>
  /**
   * Returns which factors an account has, so that an enrolled app is asked for although the host does not list it. Throws if
   * it cannot tell, since anything else would mean that there are none. Optional; a service without it requires the option
   * `onFactorsChanged`.
   */
  factorsOf?(request: UserRequest): Promise<AccountFactors>
  /**
   * Generates backup codes and returns them, for a page that shows them once. `undefined` if the service can only send them.
   * Optional; used only beside `factorsOf`, which tells such codes from those that were sent.
   */
  createBackupCodes?(request: UserRequest): Promise<CreatedBackupCodes | undefined>
  /**
   * Removes a factor. `undefined` if the service cannot. Optional; without it, or without `factorsOf`, the pages do not offer it.
   */
  removeFactor?(request: RemoveFactorRequest): Promise<RemoveFactorAnswer | undefined>
  /**
   * What the codes of the service look like, in canonical form. Any other code is refused without a call and without an attempt, so
   * every code that `verify` can accept must fit. Optional; without it, every code counts.
   */
  readonly codes?: CodeShapes
  /**
   * Whether messages name what is approved, and keys sign it: the purpose `approval`. Optional; without it, only the pages show it, and
   * every approval is `entered`.
   */
  readonly approvals?: true
  /** Security keys and passkeys. Optional. Used only beside `factorsOf`, which says who has a key. */
  readonly keys?: KeyVerbs
  /** Closes sockets and files. Optional. Call it if you created the service. */
  close?(): Promise<void>
}

/** An MFA service with every verb that the routes require, such as the HTTP client. */
export type CompleteMfaService = MfaService & Required<Pick<MfaService, 'enrollApp' | 'sendBackupCodes'>>

/**
 * A part of the service that can fail separately: delivering codes, checking them, or reporting delivery states. When only
 * the carrier is down, for example, codes can still be checked.
 */
export type ServicePart = 'delivery' | 'checking' | 'delivery_state'
