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

// Ten minutes. Steps to come are none of it: whoever guessed the code of one would be told to wait for its time.
const STEPS_OF_SLOW_CLOCKS = 20

/** What a typed code is to a secret. */
export interface Match {
  /** The step it belongs to, if that one counts. */
  readonly step: number | undefined
  /** The step it belongs to, if that one has passed: it never counts again, but tells of a slow clock. */
  readonly passed: number | undefined
}

/** How many steps ago a step that has passed was, as a negative number. */
export function stepsFrom(now: number, step: number): number {
  return step - stepAt(now)
}

/**
 * The step whose code was typed, among the current, the one before and `ahead` later ones (R50), or else among those
 * of the ten minutes before; the latest first. Every step is computed, whichever matches (R90).
 */
export function matchStep(secret: string, code: string, now: number, ahead: number): Match {
  const app = totp(secret)
  // What is not six digits is compared all the same, as text that no code can be.
  const typed = Buffer.from(/^[0-9]{6}$/.test(code) ? code : 'no-otp')
  const current = stepAt(now)
  let matched: number | undefined
  for (let step = Math.max(0, current - STEPS_OF_SLOW_CLOCKS); step <= current + ahead; step++) {
    const expected = Buffer.from(app.generate({ timestamp: step * PERIOD * 1000 }))
    if (timingSafeEqual(typed, expected)) matched = step
  }
  const counts = matched !== undefined && matched >= current - 1
  return counts ? { step: matched, passed: undefined } : { step: undefined, passed: matched }
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
