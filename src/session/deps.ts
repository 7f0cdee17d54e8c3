import type { Request } from 'express'
import type { MfaEventBody } from '../flows/events.js'
import type { Factor } from '../protocol/factor.js'
import type { Settings } from '../settings.js'
import type { SessionsValidAfter } from '../trust/sessions-valid-after.js'

/** What this room is given: built once from the options. */
export interface SessionDeps {
  readonly settings: Settings
  /** Tells the host what happened. */
  emit(event: MfaEventBody): void
  /** Words for somebody whose grace period runs, in their language. */
  banner(req: Request, graceUntil: number): string
  /** Only when the app asked for trusted devices. */
  readonly browsers?: TrustedBrowsers | undefined
  /** Only when there are links by which somebody can end everything. */
  readonly sessionsValidAfter?: SessionsValidAfter | undefined
}

/** Whom a browser may be trusted for, as the host sees them now. */
export interface Account {
  readonly user: Express.User
  readonly userId: string
  readonly factors: readonly Factor[]
}

/** What a sign-in asks about the browser that it comes from. */
export interface TrustedBrowsers {
  /** The device as which this browser skips the question for this user, if it may. Never fails. */
  recognize(req: Request, account: Account): Promise<string | undefined>
  /**
   * Whether that device is trusted still.
   * @throws {TrustStoreError} when nobody can tell.
   */
  holds(device: string, account: Account): Promise<boolean>
}
