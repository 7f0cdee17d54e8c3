import type { MfaApproval } from '../protocol/details.js'
import type { TokenClaims } from '../protocol/token-claims.js'

/** The MFA status of a request: the type of `req.mfa`. */
export interface MfaStatus {
  /** `pending`: `req.user` is withheld. `verified`: both factors were shown. `none`: signed out, or signed in without a second factor. */
  readonly status: 'none' | 'pending' | 'verified'
  /** Whether a trusted device took the place of the second factor. It proves nothing, so the status is `none`. */
  readonly trusted: boolean
  /** How the user was authenticated, in values of RFC 8176. Empty unless verified. */
  readonly amr: readonly string[]
  /**
   * The class of the strongest factor: `phr` or `phrh` for a key (OpenID Connect EAP), `urn:countersign:acr:` with the strength for
   * other factors, or the `acr` of the issuer whose evidence counts. `null` unless verified, or if that issuer gave none.
   */
  readonly acr: string | null
  /** When a second factor was last shown, here or to the issuer, in seconds since 1970 like `auth_time`. `null` unless verified. */
  readonly authTime: number | null
  /** The issuer whose evidence verified this session; `null` if there is none. */
  readonly issuer: string | null
  /** Who acts for the signed-in user in this session, as the claim `act` of RFC 8693: your id of that person, or `null`. */
  readonly actor: { readonly sub: string } | null
  /** When a second factor was last shown, in milliseconds since 1970. `null` unless verified. */
  readonly verifiedAt: number | null
  /** When the pending login ends, in milliseconds since 1970; `null` unless pending. */
  readonly expiresAt: number | null
  /** The end of the grace period for setting up a second factor, in milliseconds since 1970; `null` if there is none. */
  readonly graceUntil: number | null
  /**
   * A sentence about the grace period in the language of the request, such as "Please set up two-step verification by
   * January 31, 2027.", or a request to set up an imported authenticator app again, whose secret is short; `null` if there is
   * neither. It is plain text: escape it in HTML, and link the factor page beside it.
   */
  readonly banner: string | null
  /** The action that the user approved for exactly this request. `null` unless the route is behind `requireMfa({ bind })`. */
  readonly approval: MfaApproval | null
  /** The claims for the token that this handler issues. `null` unless it is behind `mfa.tokens.refresh`, or behind
   * `passport.authenticate('mfa', { session: false })` for a request without a session. Not part of the status as JSON. */
  readonly claims: TokenClaims | null
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
