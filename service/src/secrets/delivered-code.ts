import type { KeyObject } from 'node:crypto'
import { mac } from './keys.js'

/** Everything that a delivered code is bound to (R38); the challenge's id, 128 random bits, makes it unique. */
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
 * The challenge's code, uniformly distributed over all codes of its length, leading zeros included (R35). It is derived
 * and never stored (R40); a resend derives it again (R39).
 */
export function deliveredCode(key: KeyObject, of: CodeIdentity): string {
  const values = 10 ** of.digits
  const fair = RANGE - (RANGE % values)
  for (let draw = 0; ; draw++) {
    const parts = [of.application, of.id, of.account, of.contact, of.type, of.purpose, of.digits, draw]
    const number = mac(key, parts).readUIntBE(0, 6)
    // Rejecting the incomplete last range of numbers keeps all codes equally likely.
    if (number < fair) return String(number % values).padStart(of.digits, '0')
  }
}

/** The stored form of a delivered code, with which a typed code is compared: a keyed hash, bound to the recipient (R38, R40). */
export function deliveredCodeMac(
  key: KeyObject,
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
