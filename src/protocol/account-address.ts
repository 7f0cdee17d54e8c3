import { digestOf } from '../digest.js'
import type { Contact } from './contact.js'

/** A top-level domain that never exists, so nothing can be sent there (RFC 2606 §2). */
const DOMAIN = 'account.invalid'

/**
 * The name of an authenticator app's account for a user without an email address and phone number. It has the form of an
 * email address, because the service knows users by nothing else, and receives no message. Always the same for a user id.
 */
export function accountAddress(userId: string): Contact {
  // Services fold case, so an id with capital letters could be taken for another one.
  const isPlain = /^[a-z0-9][a-z0-9-]{0,47}$/.test(userId)
  const name = isPlain
    ? userId
    : `u.${Buffer.from(digestOf(userId), 'base64url').toString('hex').slice(0, 32)}`
  return { kind: 'email', email: `${name}@${DOMAIN}` }
}

/** Whether the contact is such a name, to which nothing can be sent and which tells a user nothing. */
export function isAccountAddress(contact: Contact): boolean {
  return contact.kind === 'email' && contact.email.endsWith(`@${DOMAIN}`)
}
