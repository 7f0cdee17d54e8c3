import { digestOf } from '../digest.js'
import { type Contact, canonicalUser } from '../protocol/contact.js'
import { BINDING_WINDOW_MS } from './attempts.js'
import type { Counters } from './counter.js'

/**
 * Which user enrolled an authenticator app under a contact. To a service that knows users by nothing else, two users with one
 * contact are one account, and the second app would replace the first (R98).
 */
export interface AppOwners {
  /** Whether another user enrolled an app under the contact. */
  isAnother(contact: Contact, userId: string): Promise<boolean>
  /** Remembers who enrolled an app under the contact. */
  remember(contact: Contact, userId: string): Promise<void>
  /** Forgets who enrolled an app under the contact. */
  forget(contact: Contact): Promise<void>
}

/** Remembers the owners in `store`, by digests. */
export function appOwnersIn(store: Counters): AppOwners {
  const owners = store('app-owner', BINDING_WINDOW_MS)
  const key = (contact: Contact) => digestOf(canonicalUser(contact))
  return {
    async isAnother(contact, userId) {
      const { count } = await owners.read(key(contact))
      return count > 0 && count !== numberOf(userId)
    },
    remember: (contact, userId) => owners.set(key(contact), numberOf(userId), BINDING_WINDOW_MS),
    forget: (contact) => owners.remove(key(contact)),
  }
}

/** A counter holds a number only: 28 bits of the user's digest, never 0. */
function numberOf(userId: string): number {
  return (Buffer.from(digestOf(userId), 'base64url').readUInt32BE() >>> 4) + 1
}
