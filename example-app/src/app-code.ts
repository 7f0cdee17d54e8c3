import { TOTP } from 'otpauth'

/** The code that an authenticator app with this secret shows at a time (milliseconds since 1970). */
export function appCode(secret: string, at: number): string {
  return new TOTP({ secret }).generate({ timestamp: at })
}
