import type { WarningCode } from '../options/warnings.js'
import type { Binding } from '../protocol/details.js'
import type { Strength } from '../protocol/factor.js'
import type { KeyMethod, Method } from '../protocol/methods.js'
import type { ServicePart } from '../protocol/verb.js'
import type { RefusalCode } from './refusal.js'

/**
 * An event for logs and metrics (R89). It has the host's id of the user and the method; it never holds a code, a secret
 * or a contact.
 */
export type MfaEvent = {
  /** When it happened, in milliseconds since 1970. */
  readonly at: number
} & (UserEvent | AppEvent)

/** Why evidence does not count. */
export type EvidenceFault =
  /** It has not the shape of evidence (R111). */
  | 'malformed'
  /** It is an object that came with the request, such as its body (R111). */
  | 'from_request'
  /** The option `login.issuers` does not have its issuer. */
  | 'unknown_issuer'
  /** It does not say when the user showed the factors (R110). */
  | 'auth_time_missing'
  /** The factors were shown more than a minute in the future (R110). */
  | 'auth_time_in_future'
  /** The factors were shown longer ago than the issuer's `maxAge` allows. */
  | 'too_old'
  /** The factors were shown before the step-up that they are meant for (R113). */
  | 'before_step_up'
  /** None of its values counts at this issuer. */
  | 'not_accepted'
  /** It is weaker than what the policy requires, or than the key of an account with `login.noDowngrade` (R115, R116). */
  | 'too_weak'

/** An event about one user. */
type UserEvent = {
  /** The host's id of the user. */
  readonly userId: string
} & (
  | /** The first factor was shown, and the second is missing. */
  { readonly type: 'pending_login_started' }
  /** A challenge was started, or its code sent again. */
  | {
      readonly type: 'challenged'
      readonly method: Method | 'backup'
      /** `sent`: the carrier has the message. `queued`: it waits for the carrier. `none`: the method sends no message. */
      readonly delivery: 'sent' | 'queued' | 'none'
      /** Whether the code of a live challenge was sent again. */
      readonly again: boolean
    }
  /** A second factor was shown. */
  | {
      readonly type: 'verified'
      readonly method: Method | 'backup'
      readonly purpose: 'sign-in' | 'step-up'
      /** Milliseconds since the challenge, or since the first factor if there was no challenge. */
      readonly afterMs?: number
    }
  /** The user approved one request with a factor (`requireMfa({ bind })`). `approval` is the id in the receipt. */
  | {
      readonly type: 'approved'
      readonly method: Method | 'backup'
      readonly approval: string
      /** How the factor was bound to the request: `entered`, `shown` in the message, or `signed` by a key. */
      readonly binding: Binding
      /** Milliseconds since the user was asked. */
      readonly afterMs: number
    }
  /** An approval was used: its request reached the route. */
  | { readonly type: 'approval_used'; readonly approval: string }
  /** The user refused a request. */
  | { readonly type: 'approval_refused'; readonly approval: string }
  /** Evidence of an identity provider verified the session at sign-in; no factor was asked. */
  | { readonly type: 'evidence_accepted'; readonly issuer: string; readonly strength: Strength }
  /** The evidence that `login.evidence` returned does not count, so a factor is asked as usual. */
  | { readonly type: 'evidence_refused'; readonly reason: EvidenceFault }
  /** Someone begins or stops to act for the user in a session (RFC 8693): `actor` is the host's id of that person. */
  | { readonly type: 'acting_started'; readonly actor: string; readonly reason: string }
  | { readonly type: 'acting_stopped'; readonly actor: string; readonly reason: string }
  /** A code or the response of a key was wrong or not checked, or a message was not sent. */
  | {
      readonly type: 'refused'
      readonly method?: Method | 'backup' | 'bypass'
      readonly code: RefusalCode
    }
  /** A request in a session of the user named another user, and was refused (R143). */
  | { readonly type: 'other_user_refused' }
  /** There were too many wrong codes, and the account is locked. */
  | { readonly type: 'locked'; readonly forSeconds: number }
  /** There were too many wrong codes for a factor since it was bound; it is disabled until it is bound again. */
  | { readonly type: 'factor_disabled'; readonly method: Method | 'backup' }
  /** The host enabled a factor again. */
  | { readonly type: 'factor_enabled'; readonly method: Method }
  /** An authenticator app was set up. */
  | { readonly type: 'app_enrolled' }
  /** The user added a security key or passkey. */
  | { readonly type: 'key_added'; readonly method: KeyMethod }
  /** The user removed their authenticator app, one of their keys, or all backup codes. */
  | { readonly type: 'factor_removed'; readonly method: 'app' | KeyMethod | 'backup' }
  /** The service says that the user lacks factors which the host's record has: `missing` names them, and they are withheld (R141). */
  | { readonly type: 'factors_contradicted'; readonly missing: readonly ('app' | 'keys')[] }
  /** A contact of a factor that the option `factors` lists cannot be used, so the factor is withheld (R153). `fault` says what is wrong. */
  | { readonly type: 'contact_unusable'; readonly method: Method; readonly fault: string }
  /** New backup codes were sent. */
  | { readonly type: 'backup_codes_sent' }
  /** New backup codes were created, for a page that shows them once. */
  | { readonly type: 'backup_codes_shown' }
  /** A pending login ended without the second factor: the user canceled it, or came back after it had expired. */
  | {
      readonly type: 'given_up'
      readonly reason: 'canceled' | 'expired'
      /** The method of the last challenge. */
      readonly method?: Method | 'backup'
    }
  /** All sessions and trusted devices of the user were ended, by a "this wasn't me" link or by the host. */
  | { readonly type: 'account_secured' }
  /** A browser is trusted from now on; `device` is its public id. */
  | { readonly type: 'device_trusted'; readonly device: string }
  /** A trusted device skipped the second factor at sign-in. */
  | { readonly type: 'device_recognized'; readonly device: string }
  /** A trusted device was revoked because its cookie held an outdated secret, so the cookie may have been copied. */
  | { readonly type: 'device_copied' }
  /** Trusted devices were revoked. */
  | {
      readonly type: 'devices_revoked'
      readonly count: number
      readonly why: 'user' | 'backup_code' | 'factor_change' | 'not_me' | 'recovery' | 'help_desk'
    }
  /** The user requested a recovery; it can be completed at `readyAt`, in milliseconds since 1970. */
  | { readonly type: 'recovery_requested'; readonly readyAt: number }
  /** Every contact was notified of the pending recovery again. */
  | { readonly type: 'recovery_reminded' }
  /** The recovery was canceled: by the link in a notice, by the signed-in user, or by a sign-in with the strong factor. */
  | { readonly type: 'recovery_canceled'; readonly by: 'link' | 'user' | 'strong_factor' }
  /** The recovery was completed: factors with these methods, all sessions and all trusted devices ended. */
  | { readonly type: 'recovery_completed'; readonly methods: readonly Method[] }
  /** Staff reset the account: factors with these methods, all sessions and all trusted devices ended. */
  | {
      readonly type: 'account_reset'
      /** Who did it, as the host named them. */
      readonly by: string
      /** Who approved it. */
      readonly approvedBy?: string
      readonly reason: string
      readonly methods: readonly Method[]
    }
  /** The user signed in with the bypass code of a reset, and now sets up a new factor. */
  | { readonly type: 'bypass_code_used' }
  /** A call to the service failed; `errorCode` is a `ServiceErrorCode`. */
  | { readonly type: 'service_failed'; readonly errorCode: string }
)

/** An event about the whole app. */
type AppEvent =
  /** The diagnostics found a problem with the deployment; `remedy` says what to do. */
  | { readonly type: 'warning'; readonly code: WarningCode; readonly remedy: string }
  /**
   * The circuit breaker opened: `part` of the service failed several times in a row and is called once a second only.
   * It closed: that part works again.
   */
  | { readonly type: 'service_paused' | 'service_resumed'; readonly part: ServicePart }

/** An event without its time. */
export type MfaEventBody = MfaEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, 'at'>
    : never
  : never
