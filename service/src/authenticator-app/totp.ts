import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** Length of a step in seconds; the only length that every authenticator app supports. */
const STEP_SECONDS = 30
const DIGITS = 6
const SECRET_BYTES = 20

/** A new authenticator secret of 160 random bits, in base32 (R53). */
export function newAppSecret(): string {
  return new Secret({ buffer: new Uint8Array(randomBytes(SECRET_BYTES)).buffer }).base32
}

/** The number of the step at `now` (in milliseconds). */
function stepAt(now: number): number {
  return Math.floor(now / 1000 / STEP_SECONDS)
}

/** When a step begins, in milliseconds since 1970. */
export function timeOfStep(step: number): number {
  return step * STEP_SECONDS * 1000
}

/** The `otpauth://` URI that an app reads from the QR code, label and issuer percent-encoded (R56). */
export function otpauthUri(secret: string, issuer: string, label: string): string {
  return totp(secret, issuer, label).toString()
}

// Ten minutes. Future steps are not searched: the answer would tell an attacker when a guessed code becomes valid.
const SLOW_CLOCK_STEPS = 20

/** The step whose code was typed, if any. */
export interface StepMatch {
  /** A step whose code is accepted at this time. */
  readonly step: number | undefined
  /** A step of the last ten minutes whose code is no longer accepted, which indicates a slow clock. */
  readonly expiredStep: number | undefined
}

/** How many steps `step` is behind the clock, as a negative number. */
export function clockStepsAt(now: number, step: number): number {
  return step - stepAt(now)
}

/**
 * The step whose code was typed: the current step, the one before and `ahead` later ones are accepted (R50); other steps
 * of the last ten minutes are only recognized. The latest match wins. Every step is computed, whichever matches (R90).
 */
export function matchStep(secret: string, code: string, now: number, ahead: number): StepMatch {
  const app = totp(secret)
  // Input that is not six digits is compared too, as a text that no code can be.
  const typed = Buffer.from(/^[0-9]{6}$/.test(code) ? code : 'no-otp')
  const current = stepAt(now)
  let matched: number | undefined
  for (let step = Math.max(0, current - SLOW_CLOCK_STEPS); step <= current + ahead; step++) {
    const expected = Buffer.from(app.generate({ timestamp: timeOfStep(step) }))
    if (timingSafeEqual(typed, expected)) matched = step
  }
  const isAccepted = matched !== undefined && matched >= current - 1
  return isAccepted ? { step: matched, expiredStep: undefined } : { step: undefined, expiredStep: matched }
}

function totp(secret: string, issuer = '', label = ''): TOTP {
  return new TOTP({
    issuer,
    label,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: STEP_SECONDS,
    secret: Secret.fromBase32(secret),
  })
}
