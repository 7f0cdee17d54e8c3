import type { WarningCode } from '../diagnostics/warnings.js'
import type { Method } from '../protocol/methods.js'
import type { ServicePart } from '../protocol/service.js'
import type { RefusalCode } from './refusal.js'

/**
 * What happened, for logs and metrics (R89). It names the user by the host's own id and the factor by its kind; it
 * never holds a code, a secret or a contact.
 */
export type MfaEvent = {
  /** Milliseconds since 1970. */
  readonly at: number
} & (AboutUser | AboutApp)

/** What happened to somebody. */
type AboutUser = {
  /** The host's id of the user. */
  readonly userId: string
} /** The first factor was shown, and the second is missing. */ & (
  | { readonly type: 'pending_login_started' }
  | {
      readonly type: 'challenged'
      readonly method: Method | 'backup'
      /** What the service said of the message: handed to the carrier, or waiting for it. `none` where none is sent. */
      readonly delivery: 'sent' | 'queued' | 'none'
      /** Whether the code of a living challenge was sent once more. */
      readonly again: boolean
    }
  | {
      readonly type: 'verified'
      readonly method: Method | 'backup'
      readonly purpose: 'sign-in' | 'step-up'
      /** Milliseconds since the challenge, or since the first factor where nothing was asked for. */
      readonly afterMs?: number
    }
  /** A code was not looked at or not right, or a message not sent. */
  | { readonly type: 'refused'; readonly method?: Method | 'backup'; readonly code: RefusalCode }
  /** One wrong code too many: the account is locked from now on. */
  | { readonly type: 'locked'; readonly forSeconds: number }
  | { readonly type: 'app_enrolled' }
  | { readonly type: 'backup_codes_sent' }
  /** A half-login ended without the second factor: by the user, or found expired when they came back. */
  | {
      readonly type: 'given_up'
      readonly reason: 'cancelled' | 'expired'
      /** The way that was tried last. */
      readonly method?: Method | 'backup'
    }
  /** Everything of this user was ended: by the link in a notice, or by the host. */
  | { readonly type: 'account_secured' }
  /** A browser will skip the question from now on; `device` is its public id. */
  | { readonly type: 'device_trusted'; readonly device: string }
  /** A trusted browser skipped the question at sign-in. */
  | { readonly type: 'device_recognized'; readonly device: string }
  /** A trusted browser showed a secret that is not its own any more: somebody may have copied it. Its trust is over. */
  | { readonly type: 'device_copied' }
  | {
      readonly type: 'devices_revoked'
      readonly count: number
      readonly why: 'user' | 'backup_code' | 'factor_change' | 'not_me'
    }
  /** The service failed; `errorCode` is a `ServiceErrorCode`. */
  | { readonly type: 'service_failed'; readonly errorCode: string }
)

/** What concerns the app as a whole. */
type AboutApp =
  /** The doctor found something that is set up less safely than it looks. */
  | { readonly type: 'warning'; readonly code: WarningCode; readonly remedy: string }
  /** The service failed several times in a row at one thing that it does, and is left alone with that for a moment. */
  | { readonly type: 'service_paused'; readonly part: ServicePart; readonly forSeconds: number }
  /** It answers again. */
  | { readonly type: 'service_resumed'; readonly part: ServicePart }

/** An event before the flow's clock has dated it. */
export type MfaEventBody = MfaEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, 'at'>
    : never
  : never
