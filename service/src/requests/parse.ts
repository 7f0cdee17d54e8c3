import { type Contact, canonicalUser, contactFits, type Method, parseUser } from 'countersign/protocol'
import type * as z from 'zod'

/** What is wrong with one parameter. */
export interface FieldError {
  readonly field: string
  readonly detail: string
}

/** Validated parameters, or everything that is wrong with them. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: FieldError[] }

// U+FFFD stands for invalid UTF-8: two different broken names would become one account.
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\ufffd]/u

/** Validates a body by its schema, then by `use`. Control characters are never accepted. */
export function parse<Fields extends object, T>(
  schema: z.ZodType<Fields>,
  body: unknown,
  use: (fields: Fields) => Parsed<T>,
): Parsed<T> {
  const parsed = schema.safeParse(body ?? {})
  if (!parsed.success) return invalid(...errorsOf(parsed.error))
  const unprintable = Object.entries(parsed.data)
    .filter(([, value]) => typeof value === 'string' && UNPRINTABLE.test(value))
    .map(([field]) => ({ field, detail: 'must not contain control characters or invalid UTF-8' }))
  return unprintable.length > 0 ? invalid(...unprintable) : use(parsed.data)
}

function errorsOf(error: z.ZodError): FieldError[] {
  const details = new Map<string, string>()
  for (const issue of error.issues) {
    const field = issue.path.length > 0 ? issue.path.join('.') : 'body'
    if (!details.has(field)) details.set(field, issue.path.length > 0 ? issue.message : 'must be an object')
  }
  return [...details].map(([field, detail]) => ({ field, detail }))
}

/** The result for invalid parameters. */
export function invalid(...errors: FieldError[]): { readonly ok: false; readonly errors: FieldError[] } {
  return { ok: false, errors }
}

/** The user that a request is about. */
export interface RequestUser {
  /** Identifies the account in every row: the caller's own name for it, else the contact (R29). */
  readonly account: string
  /** The contact as the caller wrote it, to which messages are sent. */
  readonly contact: Contact
  /** The contact in its canonical form, the same for all spellings of one mailbox or number. */
  readonly canonicalContact: string
  readonly locale: string | undefined
  readonly clientAddress: string | undefined
}

interface UserFields {
  readonly User: string
  readonly Account?: string | undefined
  readonly ClientAddress?: string | undefined
  readonly Locale?: string | undefined
}

const EXPECTED: Readonly<Record<Contact['kind'] | 'app', string>> = {
  email: 'must be an email address such as name@example.com',
  phone: 'must be a phone number in E.164 form, such as +447700900123',
  dual: 'must be <EMAIL>:<PHONE_E164>, such as name@example.com:+447700900123',
  app: 'must be an email address or a phone number in E.164 form',
}

/** A number in a form whose plus sign was not encoded. */
const DECODED_PLUS = /(^|:) \d/

/** Validates the fields that identify the user; the contact must fit the method. */
export function withUser<T>(fields: UserFields, method: Method, use: (user: RequestUser) => T): Parsed<T> {
  const contact = parseUser(fields.User)
  if (!contact || !contactFits(method, contact)) {
    const expected = method === 'app' || method === 'email' || method === 'dual' ? method : 'phone'
    const hint = DECODED_PLUS.test(fields.User) ? '; in a form, write the plus sign as %2B' : ''
    return invalid({ field: 'User', detail: EXPECTED[expected] + hint })
  }
  const canonicalContact = canonicalUser(contact)
  const account = accountName(fields.Account, canonicalContact)
  const { Locale: locale, ClientAddress: clientAddress } = fields
  return { ok: true, value: use({ account, contact, canonicalContact, locale, clientAddress }) }
}

/** A method that accepts the contact, for requests that accept every kind. */
export function anyMethodFor({ User }: Pick<UserFields, 'User'>): Method {
  return parseUser(User)?.kind === 'dual' ? 'dual' : 'app'
}

/** How rows name an account. The prefixes keep the two kinds of names apart, so that no Account can equal a contact. */
export function accountName(name: string | undefined, canonicalContact: string): string {
  return name === undefined ? `contact:${canonicalContact}` : `account:${name}`
}
