import type { Amr } from './protocol/amr.js'

/** Where the person behind a request stands, as `req.mfa` tells it. */
export interface MfaStatus {
  /**
   * `pending`: the first factor was shown, the second is missing, `req.user` is withheld. `verified`: both were
   * shown in this session. `none`: nobody is signed in, or somebody who is not asked for a second factor.
   */
  readonly status: 'none' | 'pending' | 'verified'
  /** Whether a trusted device skipped the question in this session. It proves nothing: the status is `none`. */
  readonly trusted: boolean
  /** What was proven in this session, in words of RFC 8176. Empty unless verified. */
  readonly amr: readonly Amr[]
  /** When a second factor was last shown, in milliseconds since 1970; `null` unless verified. */
  readonly verifiedAt: number | null
  /** End of the half-login in milliseconds since 1970; `null` unless pending. */
  readonly expiresAt: number | null
  /** Until when a second factor may be set up, in milliseconds since 1970; `null` when nothing is due. */
  readonly graceUntil: number | null
  /**
   * A sentence about that in the person's language, like "Please set up a second step by January 31, 2027."; `null` when
   * nothing is due. Plain text: escape it as any other.
   */
  readonly banner: string | null
}

declare global {
  namespace Express {
    // Empty here: the host says what its users are, as it does for Passport.
    interface User {}
    interface Request {
      /** Where this person stands; set by `mfaSession`. */
      mfa: MfaStatus
    }
  }
}
