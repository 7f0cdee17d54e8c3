import { isAccountAddress } from './account-address.js'
import type { Contact } from './contact.js'

const HIDDEN = '•••'

/**
 * Masks a contact for its owner: the last two digits of a phone number; the first and last letter of a mailbox, with its domain.
 * This tells the owner which of their contacts it is (R46). Empty for an account without a contact.
 */
export function maskForOwner(contact: Contact): string {
  if (isAccountAddress(contact)) return ''
  if (contact.kind === 'email') return maskMailbox(contact.email)
  if (contact.kind === 'phone') return maskPhone(contact.phone)
  return `${maskMailbox(contact.email)} + ${maskPhone(contact.phone)}`
}

/**
 * Masks a contact for operators and logs: the last two digits of a phone number, the first letter of an email address and of its
 * domain. It reveals the contact to nobody who does not know it (R46).
 */
export function maskContact(contact: Contact): string {
  if (contact.kind === 'email') return maskEmail(contact.email)
  if (contact.kind === 'phone') return maskPhone(contact.phone)
  return `${maskEmail(contact.email)} + ${maskPhone(contact.phone)}`
}

function maskPhone(phone: string): string {
  return `${HIDDEN} ${phone.slice(-2)}`
}

function maskMailbox(email: string): string {
  const at = email.lastIndexOf('@')
  const letters = [...email.slice(0, at)]
  // The last letter of a shorter name would give it away.
  const last = letters.length > 2 ? letters.at(-1) : ''
  return `${letters[0]}…${last}${email.slice(at)}`
}

function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email.slice(0, 1)}${HIDDEN}@${email.slice(at + 1, at + 2)}${HIDDEN}`
}
