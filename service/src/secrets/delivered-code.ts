import { timingSafeEqual } from 'node:crypto'
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

/** Compares two codes without telling by the time taken where they differ (R90). */
export function sameCode(key: Buffer, typed: string, expected: string): boolean {
  return timingSafeEqual(mac(key, ['compare', typed]), mac(key, ['compare', expected]))
}
