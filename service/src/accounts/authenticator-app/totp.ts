import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** The hash functions of codes. */
export const APP_ALGORITHMS = ['SHA1', 'SHA256', 'SHA512'] as const
/** The numbers of digits that a code can have. */
export const APP_DIGITS = [6, 8] as const
/** The lengths of a step, in seconds. */
export const APP_PERIODS = [30, 60] as const

/** How an app computes its codes from a secret. */
export interface AppParameters {
  readonly algorithm: (typeof APP_ALGORITHMS)[number]
  readonly digits: (typeof APP_DIGITS)[number]
  /** The length of a step, in seconds. */
  readonly period: (typeof APP_PERIODS)[number]
}

/** The parameters of new secrets, which every authenticator app supports. */
export const DEFAULT_APP_PARAMETERS: AppParameters = { algorithm: 'SHA1', digits: 6, period: 30 }

// Steps are numbered by the shortest period, so that numbers of different secrets can be compared.
const STEP_SECONDS = 30
const SECRET_BYTES = 20

/** A secret with its parameters as one text, which is sealed. With the default parameters it is the secret itself. */
export function writeAppSecret(secret: string, { algorithm, digits, period }: AppParameters): string {
  const usual = DEFAULT_APP_PARAMETERS
  const isDefault = algorithm === usual.algorithm && digits === usual.digits && period === usual.period
  return isDefault ? secret : [secret, algorithm, digits, period].join('.')
}

function readAppSecret(text: string): AppParameters & { readonly secret: string } {
  const [secret = '', algorithm, digits, period] = text.split('.')
  return {
    secret,
    algorithm: APP_ALGORITHMS.find((known) => known === algorithm) ?? DEFAULT_APP_PARAMETERS.algorithm,
    digits: APP_DIGITS.find((known) => String(known) === digits) ?? DEFAULT_APP_PARAMETERS.digits,
    period: APP_PERIODS.find((known) => String(known) === period) ?? DEFAULT_APP_PARAMETERS.period,
  }
}

/** A new authenticator secret of 160 random bits, in base32 (R53). */
export function newAppSecret(): string {
  return toBase32(randomBytes(SECRET_BYTES))
}

/** A secret as authenticator apps take it, in base32. */
export function toBase32(secret: Uint8Array): string {
  return new Secret({ buffer: new Uint8Array(secret).buffer }).base32
}

function stepAt(now: number, period: number): number {
  return Math.floor(now / 1000 / period)
}

/** When a step begins, in milliseconds since 1970. */
export function timeOfStep(step: number): number {
  return step * STEP_SECONDS * 1000
}

/** The `otpauth://` URI that an app reads from the QR code, label and issuer percent-encoded (R56). */
export function otpauthUri(secret: string, issuer: string, label: string): string {
  // FreeOTP refuses a label with two colons, and the one separates the issuer from the account.
  return totp({ ...DEFAULT_APP_PARAMETERS, secret }, issuer.replace(/\s*:\s*/g, ' ').trim(), label).toString()
}

// Future steps are not searched: the answer would tell an attacker when a guessed code becomes valid.
const SLOW_CLOCK_SECONDS = 600

/** The step whose code was typed, if any. */
export interface StepMatch {
  /** A step whose code is accepted at this time. */
  readonly step: number | undefined
  /** A step of the last ten minutes whose code is no longer accepted, which indicates a slow clock. */
  readonly expiredStep: number | undefined
}

/** How many steps `step` is behind the clock, as a negative number. */
export function countClockSteps(now: number, step: number): number {
  return step - stepAt(now, STEP_SECONDS)
}

/**
 * The step whose code was typed, for a secret as `writeAppSecret` wrote it: the current step, the one before and `ahead` later
 * ones are accepted (R50); other steps of the last ten minutes are only recognized. The latest match wins. Every step is
 * computed, whichever matches (R90). A step is named by the step of 30 seconds that it begins with.
 */
export function matchStep(text: string, code: string, now: number, ahead: number): StepMatch {
  const app = readAppSecret(text)
  const { digits, period } = app
  const codes = totp(app)
  // Input that has another form is compared too, as a text that no code can be.
  const isShaped = code.length === digits && /^[0-9]+$/.test(code)
  const typed = Buffer.from(isShaped ? code : 'no-totp!'.slice(0, digits))
  const current = stepAt(now, period)
  let matched: number | undefined
  for (let step = Math.max(0, current - SLOW_CLOCK_SECONDS / period); step <= current + ahead; step++) {
    const expected = Buffer.from(codes.generate({ timestamp: step * period * 1000 }))
    if (timingSafeEqual(typed, expected)) matched = step
  }
  if (matched === undefined) return { step: undefined, expiredStep: undefined }
  const step = matched * (period / STEP_SECONDS)
  const isAccepted = matched >= current - 1
  return isAccepted ? { step, expiredStep: undefined } : { step: undefined, expiredStep: step }
}

function totp({ secret, ...parameters }: ReturnType<typeof readAppSecret>, issuer = '', label = ''): TOTP {
  return new TOTP({ issuer, label, ...parameters, secret: Secret.fromBase32(secret) })
}
