import { domainToASCII } from 'node:url'
import * as z from 'zod'
import { digestOf } from '../digest.js'
import { isKeyMethod, type Method } from './methods.js'

/** The address or number to which the service sends codes, which also identifies the user (`User` in its API). */
export type Contact =
  | { readonly kind: 'email'; readonly email: string }
  | { readonly kind: 'phone'; readonly phone: string }
  | { readonly kind: 'dual'; readonly email: string; readonly phone: string }

const EMAIL = z.regexes.email
const MAX_EMAIL_LENGTH = 254
/** A domain that is in ASCII already, apart from its case, and has no label in Punycode. */
const PLAIN_DOMAIN = /^(?!.*xn--)(?:[a-z\d-]+\.)+[a-z]+$/i
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
  const folded = contact.email.normalize('NFKC').trim()
  const at = folded.lastIndexOf('@')
  const domain = folded.slice(at + 1)
  const ascii = PLAIN_DOMAIN.test(domain) ? domain : domainToASCII(domain) || domain
  const email = `${folded.slice(0, at)}@${ascii}`.toLowerCase()
  return contact.kind === 'email' ? email : `${email}:${contact.phone}`
}

/** The contact in its canonical form, for a name that is never written to. */
export function foldedContact(contact: Contact): Contact {
  return parseUser(canonicalUser(contact)) ?? contact
}

/** Whether a value is an email address of at most 254 characters (RFC 5321 §4.5.3.1), without a colon, so that DUAL is unambiguous (R79). */
export function isEmail(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_EMAIL_LENGTH && EMAIL.test(value)
}

/** Whether a value is a phone number in ITU-T E.164 format: plus sign, country code, no spaces, at most 15 digits. */
export function isPhone(value: unknown): value is string {
  return typeof value === 'string' && PHONE.test(value)
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
