import type { Request } from 'express'
import type { Factor } from '../protocol/factor.js'

/** Whom a browser may be trusted for, as the host sees them now. */
export interface Account {
  readonly user: Express.User
  readonly userId: string
  readonly factors: readonly Factor[]
}

/** What a sign-in asks about the browser that it comes from. */
export interface TrustedBrowsers {
  /** The device as which this browser skips the question for this user, if it may. Never fails. */
  recognise(req: Request, account: Account): Promise<string | undefined>
  /**
   * Whether that device is trusted still.
   * @throws {TrustStoreError} when nobody can tell.
   */
  holds(device: string, account: Account): Promise<boolean>
}
