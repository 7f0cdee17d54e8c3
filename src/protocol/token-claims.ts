/** The claims that a login or step-up has proven, as `tokens.issue` gets them. All go into the access token, as they are. */
export interface TokenClaims {
  /** Your id of the user. */
  readonly sub: string
  /** The class of the strongest factor, as `req.mfa.acr`. Absent if no factor was shown. */
  readonly acr?: string
  /** How the user was authenticated, in values of RFC 8176. For other programs: nothing here reads it. */
  readonly amr: readonly string[]
  /** When a factor was last shown, or else the first factor, in seconds since 1970. */
  readonly auth_time: number
  /** The id of the login, which every token of it has. */
  readonly sid: string
  /** The part that guards go by: the methods with their times and how often the user's sessions had ended, with a mark that it is ours. */
  readonly mfa: object
}

/** Why tokens are issued. A step-up gets a new access token and no refresh token. */
export type TokenReason = 'login' | 'step-up'

/** The end of tokens. */
export interface TokenEnd {
  /** The user whose tokens end. */
  readonly userId: string
  /** Only the tokens of this login end. */
  readonly sessionId?: string
  /** The tokens of this login go on. */
  readonly exceptSessionId?: string
  /** `issued_too_late`: the user's sessions ended while the tokens of a login were issued. */
  readonly reason: 'reset' | 'recovery' | 'not_me' | 'secured' | 'new_password' | 'issued_too_late'
}
