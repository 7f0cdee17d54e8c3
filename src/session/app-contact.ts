import { accountAddress } from '../protocol/account-address.js'
import { type Contact, foldedContact, parseUser } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'
import type { Settings } from '../settings.js'

/**
 * The contact under which the service stores a user's app; a name without a mailbox if the user has no contact. Letters are
 * folded to lower case, since services take contacts that differ only in case for one account (R98).
 */
export function appContactOf(
  { appContact }: Pick<Settings, 'appContact'>,
  user: Express.User,
  userId: string,
  factors: readonly Factor[],
): Contact {
  const given: unknown = appContact ? appContact(user) : Reflect.get(user, 'email')
  const contact = typeof given === 'string' ? parseUser(given) : undefined
  if (contact && contact.kind !== 'dual') return foldedContact(contact)
  const [first = accountAddress(userId)] = factors.map((factor) => factor.contact)
  return foldedContact(first.kind === 'dual' ? { kind: 'email', email: first.email } : first)
}
