import { domainToASCII } from 'node:url'
import { digestOf } from '../digest.js'
import { asciiDigits, isKeyMethod, type Method } from './methods.js'

/** The address or number to which the service sends codes, which also identifies the user (`User` in its API). */
export type Contact =
  | { readonly kind: 'email'; readonly email: string }
  | { readonly kind: 'phone'; readonly phone: string }
  | { readonly kind: 'dual'; readonly email: string; readonly phone: string }

/**
 * The characters and domains of HTML's `<input type=email>`, with a dot in the domain. A dot that is first, last or doubled before the @,
 * and a domain that is read as an IP address, mean something else to each mail server.
 */
const EMAIL =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!(?:\d+|0x[\da-f]*)$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i
const MAX_EMAIL_LENGTH = 254
/** A character that no domain has, and that its conversion could drop or decode. */
const NO_DOMAIN = /[^\P{ASCII}a-z\d.-]|(?![\u200c\u200d])[\p{C}\p{Z}]/iu
const PHONE = /^\+[1-9]\d{6,14}$/

/** Formats a contact as the API's `User` parameter; DUAL is `<EMAIL>:<PHONE_E164>`. */
export function formatUser(contact: Contact): string {
  if (contact.kind === 'email') return contact.email
  if (contact.kind === 'phone') return contact.phone
  return `${contact.email}:${contact.phone}`
}

/** Parses a `User` parameter. Returns `undefined` if it has none of the three formats. */
export function parseUser(user: string): Contact | undefined {
  const colon = user.lastIndexOf(':')
  if (colon >= 0) {
    const email = user.slice(0, colon)
    const phone = user.slice(colon + 1)
    return isEmail(email) && isPhone(phone) ? { kind: 'dual', email, phone } : undefined
  }
  if (isPhone(user)) return { kind: 'phone', phone: user }
  return isEmail(user) ? { kind: 'email', email: user } : undefined
}

/** Whether a contact is of the kind that a method needs: a phone number for SMS, both for DUAL, one of the two for an app and for keys. */
export function contactFits(method: Method, contact: Contact): boolean {
  if (method === 'app' || isKeyMethod(method)) return contact.kind !== 'dual'
  if (method === 'email' || method === 'dual') return contact.kind === method
  return contact.kind === 'phone'
}

/** The form of a contact (R29) for counters and lookups: NFKC, domain in ASCII, lower case. */
export function canonicalUser(contact: Contact): string {
  if (contact.kind === 'phone') return contact.phone
  // The domain first: as another form of Unicode, it could become another domain.
  const email = encodeDomain(contact.email.trim()).normalize('NFKC').toLowerCase()
  return contact.kind === 'email' ? email : `${email}:${contact.phone}`
}

/** The contact as messages are sent to it: the mailbox as it is written, its domain in ASCII (RFC 5890). */
export function deliverableContact<Given extends Contact>(contact: Given): Given {
  return contact.kind === 'phone' ? contact : { ...contact, email: encodeDomain(contact.email) }
}

function encodeDomain(email: string): string {
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1)
  if (/^\p{ASCII}*$/u.test(domain) || NO_DOMAIN.test(domain)) return email
  return `${email.slice(0, at)}@${domainToASCII(domain) || domain}`
}

/** The contact in its canonical form, for a name that is never written to. */
export function foldContact(contact: Contact): Contact {
  return parseUser(canonicalUser(contact)) ?? contact
}

/** Whether a value is an email address of at most 254 characters (RFC 5321 §4.5.3.1), without a colon, so that DUAL is unambiguous (R79). */
export function isEmail(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_EMAIL_LENGTH) return false
  const email = encodeDomain(value)
  return email.length <= MAX_EMAIL_LENGTH && EMAIL.test(email)
}

/** Whether a value is a phone number in ITU-T E.164 format: plus sign, country code, no spaces, at most 15 digits. */
export function isPhone(value: unknown): value is string {
  return typeof value === 'string' && PHONE.test(value)
}

/** Phone number as a keyboard wrote it, in ASCII and without spaces: with a plus sign and digits alone, it is in E.164 format. */
export function plainPhone(typed: string): string {
  if (PHONE.test(typed)) return typed
  const characters = typed.trim().replace(/[^\p{Nd}]/gu, (character) => {
    const plain = character.normalize('NFKC')
    // A footnote or a circled figure is not part of a number, so that it must not become one of its digits.
    return /\d/.test(plain) ? '#' : plain
  })
  return asciiDigits(characters.replace(/[\u02d6\u2795]/g, '+').replace(/[\p{Zs}\t\p{Cf}\p{DI}]/gu, ''))
}

/** A top-level domain that never exists, so nothing can be sent there (RFC 2606 §2). */
const DOMAIN = 'account.invalid'

/** The name of an app's account for a user without a contact, in the form of an address that has no mailbox. */
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

/** The user and browser behind a request, for services that support these parameters. */
export interface Caller {
  /** The host's id for the account, whose factors share limits (R23). Defaults to the contact. */
  readonly account?: string
  /** IP address of the browser, as Express determines it (R31). */
  readonly clientAddress?: string
  /** Language of the message, a BCP 47 tag. Defaults to the language of the application. */
  readonly locale?: string
}

/** A request about an account. */
export interface UserRequest extends Caller {
  /** A contact of the account, which names it for a service without `account`. */
  readonly contact: Contact
}
