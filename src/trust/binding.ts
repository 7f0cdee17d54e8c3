import { formatUser } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'

/**
 * What a trust is bound to, as text: the user's factors, whatever their order and names, and what the host adds, such
 * as a number that goes up with every new password. When any of it changes, the trust is over (R66).
 */
export function bindingOf(factors: readonly Factor[], fromHost: string): string {
  const proofs = factors.map(({ method, contact }) => `${method} ${formatUser(contact)}`).sort()
  return JSON.stringify([proofs, fromHost])
}
