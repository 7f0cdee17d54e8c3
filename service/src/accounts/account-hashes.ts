import type { Contact } from 'countersign/protocol'
import { accountReference, contactReference, type Keys, withKeyId } from '../secrets/keys.js'

/** An account's reference as it is stored: with the id of its key. */
export function storedReference(keys: Keys, application: string, account: string): string {
  return withKeyId(keys, accountReference(keys, application, account))
}

/** Keyed hashes of the mailbox and the phone number of a contact, as they are stored; `null` for the one that it has not. */
export interface ContactHashes {
  readonly email: string | null
  readonly phone: string | null
}

/** The hashes by which an account is found once it has proven the contact. */
export function contactHashes(keys: Keys, contact: Contact): ContactHashes {
  const hash = (one: Contact) => withKeyId(keys, contactReference(keys, one))
  return {
    email: contact.kind === 'phone' ? null : hash({ kind: 'email', email: contact.email }),
    phone: contact.kind === 'email' ? null : hash({ kind: 'phone', phone: contact.phone }),
  }
}
