import type { Request } from 'express'
import type { EnrolledFactors } from '../flows/enrolled-factors.js'
import type { MfaEventBody } from '../flows/events.js'
import type { Factor } from '../protocol/factor.js'
import type { Settings } from '../settings.js'
import type { Entry } from '../trust/devices.js'
import type { SessionsValidAfter } from '../trust/sessions-valid-after.js'

/** What the session module works with, built once from the options. */
export interface SessionDeps {
  readonly settings: Settings
  /** Passes an event to the host's `onEvent` and to the metrics. */
  emit(event: MfaEventBody): void
  /** A sentence about a running grace period, in the language of the request. */
  banner(req: Request, graceUntil: number): string
  /** Says which users have an authenticator app or keys that the host does not list. Present if the service can tell. */
  readonly enrolledFactors?: Pick<EnrolledFactors, 'of' | 'kept'> | undefined
  /** Present if the app uses trusted devices. */
  readonly browsers?: TrustedBrowsers | undefined
  /** Present if account notices have a "this wasn't me" link, or the app offers recovery. */
  readonly sessionsValidAfter?: SessionsValidAfter | undefined
  /** Present if the app offers recovery. */
  readonly recovery?: RecoveryToCancel | undefined
  /** Present if the app offers recovery. */
  readonly resets?: OpenResets | undefined
}

/** The pending recoveries, which a sign-in with the strongest factor cancels (R94). */
export interface RecoveryToCancel {
  cancel(userId: string, by: 'strong_factor'): Promise<boolean>
}

/** Factors of an account ended, and its user has to set up a new one. */
export interface OpenReset {
  readonly id: string
  /** `recovery`: the user completed one. `help_desk`: staff reset the account, and the user needs a bypass code. */
  readonly kind: 'recovery' | 'help_desk'
  /** Whether the factor ended with it, whether or not the host still lists it. */
  hasEnded(factor: Pick<Factor, 'method' | 'contact'>): boolean
}

/** The accounts that wait for a new factor. */
export interface OpenResets {
  /** The user's open reset. */
  find(userId: string): Promise<OpenReset | undefined>
}

/** A user as the host describes them now. */
export interface Account {
  readonly user: Express.User
  readonly userId: string
  /** The factors that the user can be asked for. */
  readonly factors: readonly Factor[]
  /** Those that exist and cannot be used now. They are not offered and not accepted, but their user has MFA (R132). */
  readonly withheld: readonly Factor[]
  /** The user's open reset. The factors that it ended are in neither list. */
  readonly reset?: OpenReset | undefined
}

/** A request, and the entries of the trusted-device cookie that its response already sets. */
export interface BrowserExchange {
  readonly req: Request
  readonly shared: { deviceEntries?: readonly Entry[] }
}

/** What a sign-in needs to know about the browser that it comes from. */
export interface TrustedBrowsers {
  /** The id of the trusted device by which this browser skips the second factor of this user, if there is one. Never fails. */
  recognize(exchange: BrowserExchange, account: Account): Promise<string | undefined>
  /**
   * Whether that device is still trusted.
   * @throws {TrustStoreError} when the store of trusted devices fails.
   */
  holds(device: string, account: Account): Promise<boolean>
}
