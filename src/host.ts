import type { Amr } from './protocol/factor.js'

/** The MFA status of a request: the type of `req.mfa`. */
export interface MfaStatus {
  /**
   * `pending`: the first factor was shown, the second is missing, and `req.user` is withheld. `verified`: both were shown in
   * this session. `none`: no user is signed in, or the user signed in without a second factor.
   */
  readonly status: 'none' | 'pending' | 'verified'
  /** Whether a trusted device took the place of the second factor. It proves nothing, so the status is `none`. */
  readonly trusted: boolean
  /** How the user was authenticated in this session, in values of RFC 8176. Empty unless verified. */
  readonly amr: readonly Amr[]
  /** When a second factor was last shown, in milliseconds since 1970. `null` unless verified. */
  readonly verifiedAt: number | null
  /** When the pending login ends, in milliseconds since 1970; `null` unless pending. */
  readonly expiresAt: number | null
  /** The end of the grace period for setting up a second factor, in milliseconds since 1970; `null` if there is none. */
  readonly graceUntil: number | null
  /**
   * A sentence about the grace period in the language of the request, such as "Please set up two-step verification by
   * January 31, 2027."; `null` if there is none. It is plain text: escape it in HTML.
   */
  readonly banner: string | null
}

declare global {
  namespace Express {
    // Empty here: the host declares its user type, as it does for Passport.
    interface User {}
    interface Request {
      /** The MFA status of this request. Set by the gate, `mfa.session`, and absent where it did not run. */
      mfa?: MfaStatus
    }
  }
}
