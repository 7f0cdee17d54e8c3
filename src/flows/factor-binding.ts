import { digestOf } from '../digest.js'
import { type Contact, canonicalUser } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'
import { isKeyMethod, type Method, VERIFY_TYPE } from '../protocol/methods.js'
import { backupOwner, type MfaUser } from './user.js'

/**
 * Names a factor of an account for the count of its failures (R96), without showing the contact: SMS, WhatsApp and calls to
 * one phone number are one factor, whatever ids the host gives them.
 */
export function factorBinding(userId: string, method: Method | 'backup', contact: Contact): string {
  const type = method === 'backup' ? 'BACKUP' : isKeyMethod(method) ? method : VERIFY_TYPE[method]
  return digestOf(JSON.stringify([userId, type, canonicalUser(contact)]))
}

/** A user's factors by the id that requests name them by, with `backup` for the backup codes, and their bindings. */
export function bindingsOf(user: MfaUser): ReadonlyMap<string, string> {
  const { userId, factors } = user
  const bindings = new Map(
    factors.map(({ id, method, contact }: Factor) => [id, factorBinding(userId, method, contact)]),
  )
  const backup = backupOwner(user)
  if (backup) bindings.set('backup', factorBinding(userId, 'backup', backup.contact))
  return bindings
}
