import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** Length of a step in seconds; the only one that every authenticator app knows. */
const PERIOD = 30
const DIGITS = 6
const SECRET_BYTES = 20

/** A new authenticator secret of 160 random bits, in base32 (R53). */
export function newAppSecret(): string {
  return new Secret({ buffer: new Uint8Array(randomBytes(SECRET_BYTES)).buffer }).base32
}

/** The number of the step that `now` (in milliseconds) lies in. */
function stepAt(now: number): number {
  return Math.floor(now / 1000 / PERIOD)
}

/** The `otpauth://` address that an app reads from the QR code, label and issuer percent-encoded (R56). */
export function otpauthUri(secret: string, issuer: string, label: string): string {
  return totp(secret, issuer, label).toString()
}

/**
 * The step whose code was typed, among the current, the one before and `ahead` later ones (R50), the latest first;
 * `undefined` when it is none of them. Every step is computed, whichever matches (R90).
 */
export function matchStep(secret: string, code: string, now: number, ahead: number): number | undefined {
  const app = totp(secret)
  // What is not six digits is compared all the same, as text that no code can be.
  const typed = Buffer.from(/^[0-9]{6}$/.test(code) ? code : 'no-otp')
  let matched: number | undefined
  for (let step = stepAt(now) - 1; step <= stepAt(now) + ahead; step++) {
    const expected = Buffer.from(app.generate({ timestamp: step * PERIOD * 1000 }))
    if (timingSafeEqual(typed, expected)) matched = step
  }
  return matched
}

function totp(secret: string, issuer = '', label = ''): TOTP {
  return new TOTP({
    issuer,
    label,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD,
    secret: Secret.fromBase32(secret),
  })
}
