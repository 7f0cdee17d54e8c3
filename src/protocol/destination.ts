import { isAccountAddress } from './account-address.js'
import type { Contact } from './contact.js'

const HIDDEN = '•••'

/**
 * Masks a contact for display: the last two digits of a phone number, the first letter of an email address and of its
 * domain. This is enough to recognize your own contact, but does not reveal it to others (R46). Empty for an account without
 * a contact.
 */
export function maskContact(contact: Contact): string {
  if (isAccountAddress(contact)) return ''
  if (contact.kind === 'email') return maskEmail(contact.email)
  if (contact.kind === 'phone') return maskPhone(contact.phone)
  return `${maskEmail(contact.email)} + ${maskPhone(contact.phone)}`
}

function maskPhone(phone: string): string {
  return `${HIDDEN} ${phone.slice(-2)}`
}

function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email.slice(0, 1)}${HIDDEN}@${email.slice(at + 1, at + 2)}${HIDDEN}`
}
