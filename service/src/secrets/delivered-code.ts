import { mac } from './keys.js'

/** Everything a delivered code is bound to (R38); the challenge's id is 128 random bits and makes it unique. */
export interface CodeIdentity {
  readonly application: string
  readonly id: string
  readonly account: string
  readonly contact: string
  readonly type: string
  readonly purpose: string
  readonly digits: number
}

const RANGE = 2 ** 48

/**
 * The challenge's code, uniform over all codes of its length with leading zeros kept (R35). It is derived and never
 * stored (R40), so that a resend repeats it (R39).
 */
export function deliveredCode(key: Buffer, of: CodeIdentity): string {
  const values = 10 ** of.digits
  const fair = RANGE - (RANGE % values)
  for (let draw = 0; ; draw++) {
    const parts = [of.application, of.id, of.account, of.contact, of.type, of.purpose, of.digits, draw]
    const number = mac(key, parts).readUIntBE(0, 6)
    // Rejecting the last incomplete run of numbers keeps every code equally likely.
    if (number < fair) return String(number % values).padStart(of.digits, '0')
  }
}

/** What a typed code is compared with: a keyed hash, bound to whom the code was sent to (R38, R40). */
export function deliveredCodeMac(
  key: Buffer,
  of: {
    readonly application: string
    readonly account: string
    readonly contact: string
    readonly type: string
    readonly code: string
  },
): string {
  return mac(key, ['compare', of.application, of.account, of.contact, of.type, of.code]).toString('base64url')
}
