import { TOTP } from 'otpauth'

/** What an authenticator app with this secret shows at a moment. */
export function appCode(secret: string, at: number): string {
  return new TOTP({ secret }).generate({ timestamp: at })
}
