import { type Contact, isAccountAddress } from './contact.js'

const HIDDEN = '•••'

/** For the owner: last two digits, or first and last letter of the mailbox and the domain (R46). May be empty. */
export function maskForOwner(contact: Contact): string {
  return isAccountAddress(contact) ? '' : maskParts(contact, maskMailbox)
}

/** For operators and logs: last two digits, or first letters of mailbox and domain (R46). */
export function maskContact(contact: Contact): string {
  return maskParts(contact, maskEmail)
}

function maskParts(contact: Contact, maskAddress: (email: string) => string): string {
  if (contact.kind === 'email') return maskAddress(contact.email)
  if (contact.kind === 'phone') return maskPhone(contact.phone)
  return `${maskAddress(contact.email)} + ${maskPhone(contact.phone)}`
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
