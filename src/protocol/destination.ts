import type { Contact } from './contact.js'

const HIDDEN = '•••'

/**
 * A contact as a page may show it: the last two digits of a number, the first letter of a mailbox and of its
 * domain. Enough to recognize one's own, useless to learn somebody else's (R46).
 */
export function maskContact(contact: Contact): string {
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
