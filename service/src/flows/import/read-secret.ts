import type { ConfirmedSecret } from '../../accounts/app-secret.js'
import {
  APP_ALGORITHMS,
  APP_DIGITS,
  APP_PERIODS,
  type AppParameters,
  DEFAULT_APP_PARAMETERS,
  toBase32,
  writeAppSecret,
} from '../../accounts/authenticator-app/totp.js'
import { type Candidate, ENCODINGS, type Encoding, type Refusal } from './import-row.js'

/** RFC 4226 §4 requires 128 bits. */
const STRONG_BITS = 128
/** Several libraries make secrets of 80 bits by default. */
const WEAK_BITS = 80
const MAX_BITS = 640

/** The values that apply where a row says nothing. */
export interface SecretDefaults {
  readonly encoding: Encoding
  /** `SHA1`, `SHA256` or `SHA512`. Defaults to `SHA1`. */
  readonly algorithm?: string | undefined
  /** 6 or 8. Defaults to 6. */
  readonly digits?: number | undefined
  /** The length of a step in seconds: 30 or 60. Defaults to 30. */
  readonly period?: number | undefined
}

type Written = Pick<Candidate, 'secret' | 'encoding' | 'algorithm' | 'digits' | 'period'>

/** Reads a secret with its parameters, in any spelling, or says why it cannot be imported. */
export function readSecret(
  written: Written,
  defaults: SecretDefaults,
  allowWeak: boolean,
): ConfirmedSecret | Refusal {
  const given = readUri(written) ?? written
  if (typeof given === 'string') return given
  const secret = base32Of(given.secret, given.encoding, defaults.encoding)
  if (secret === undefined) return 'secret'
  const bits = Math.floor((secret.length * 5) / 8) * 8
  if (bits < WEAK_BITS || bits > MAX_BITS) return 'too_weak'
  const weak = bits < STRONG_BITS
  if (weak && !allowWeak) return 'weak'
  const parameters = readParameters(given, defaults)
  if (!parameters) return 'parameters'
  return { text: writeAppSecret(secret, parameters), weak, digits: parameters.digits }
}

const ADDRESS = /^[\w.+-]+:\/\//
const APP = /^(?:apple-)?otpauth:\/\/(\w+)/i
/** The part of an address that apps read. Its label may have any character, even `?` and `#`. */
const MEMBER = /[?&](?:secret|algorithm|digits|period)=[^&]*/gi

/** An `otpauth://` URI in place of the secret says everything itself. */
function readUri({ secret }: Written): Written | Refusal | undefined {
  const uri = typeof secret === 'string' ? secret.trim().replaceAll('&amp;', '&') : ''
  if (!ADDRESS.test(uri)) return undefined
  const kind = APP.exec(uri)?.[1]?.toLowerCase()
  if (kind === 'hotp') return 'counter_based'
  if (kind !== 'totp') return 'other_address'
  const found = new Map<string, string>()
  for (const [written] of uri.matchAll(MEMBER)) {
    for (const [name, value] of new URLSearchParams(written.slice(1))) {
      const member = name.toLowerCase()
      if ((found.get(member) ?? value) !== value) return 'ambiguous'
      found.set(member, value)
    }
  }
  return { secret: undefined, encoding: 'base32', ...Object.fromEntries(found) }
}

function base32Of(secret: unknown, given: unknown, fallback: Encoding): string | undefined {
  const bytes = readBytes(secret)
  if (bytes) return toBase32(bytes)
  if (typeof secret !== 'string') return undefined
  const name = isAbsent(given) ? fallback : String(given).toLowerCase()
  const encoding = ENCODINGS.find((known) => known === (name === 'ascii' ? 'text' : name))
  return encoding && DECODERS[encoding](secret)
}

const DECODERS: Readonly<Record<Encoding, (text: string) => string | undefined>> = {
  base32: cleanBase32,
  hex: readHex,
  base64: (text) => (/^[\w+/-]+=*$/.test(text) ? toBase32(Buffer.from(text, 'base64')) : undefined),
  text: (text) => (text === '' ? undefined : toBase32(Buffer.from(text))),
}

/** As databases and programs write bytes: `\\x…`, `0x…`, `x'…'`, or with colons. */
function readHex(text: string): string | undefined {
  const digits = text.trim().replace(/^(?:\\x|0x|x')|'$|[\s:-]/gi, '')
  return /^([0-9a-f]{2})+$/i.test(digits) ? toBase32(Buffer.from(digits, 'hex')) : undefined
}

/** Lower case, and the spaces and dashes with which secrets are shown, mean the same. */
function cleanBase32(text: string): string | undefined {
  const secret = text
    .replace(/%3D/gi, '=')
    .replace(/[\s\p{Cf}_-]+/gu, '')
    .replace(/=+$/, '')
    .toUpperCase()
  return /^[A-Z2-7]+$/.test(secret) ? secret : undefined
}

/** A `Buffer`, as it is or as JSON writes it. */
function readBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (typeof value !== 'object' || value === null || !('data' in value)) return undefined
  const { data } = value
  const isBytes =
    Array.isArray(data) && data.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256)
  return isBytes ? Buffer.from(data) : undefined
}

function readParameters(given: Written, defaults: SecretDefaults): AppParameters | undefined {
  const { algorithm, digits, period } = DEFAULT_APP_PARAMETERS
  const choose = (value: unknown, ...others: unknown[]) =>
    String([value, ...others].find((text) => !isAbsent(text)))
  // `HmacSHA1`, `SHA-1` and `sha1` are the same.
  const name = choose(given.algorithm, defaults.algorithm, algorithm)
    .toUpperCase()
    .replace(/^HMAC[-_]?/, '')
    .replace(/[-_]/g, '')
  const found = {
    algorithm: APP_ALGORITHMS.find((known) => known === name),
    digits: APP_DIGITS.find((known) => String(known) === choose(given.digits, defaults.digits, digits)),
    period: APP_PERIODS.find((known) => String(known) === choose(given.period, defaults.period, period)),
  }
  return found.algorithm && found.digits && found.period
    ? { algorithm: found.algorithm, digits: found.digits, period: found.period }
    : undefined
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
