import { type Contact, canonicalUser, contactFits, type Method, parseUser } from 'countersign/protocol'
import { type Reading, refuse } from './parse.js'

/** Who a call is about. */
export interface Person {
  /** Names the account in every row: the caller's own name for it, else the contact (R29). */
  readonly account: string
  /** The contact as messages go to it. */
  readonly contact: Contact
  /** The contact in its one spelling. */
  readonly user: string
  readonly locale: string | undefined
  readonly clientAddress: string | undefined
}

interface CallerFields {
  readonly User: string
  readonly Account?: string | undefined
  readonly ClientAddress?: string | undefined
  readonly Locale?: string | undefined
}

const EXPECTED: Readonly<Record<Contact['kind'] | 'app', string>> = {
  email: 'must be an email address like name@example.com',
  phone: 'must be a telephone number in E.164 form, like +447700900123',
  dual: 'must be <EMAIL>:<PHONE_E164>, like name@example.com:+447700900123',
  app: 'must be an email address or a telephone number in E.164 form',
}

/** What a number becomes in a form whose plus sign was not encoded. */
const SPACED = /(^|:) \d/

/** Reads who is meant, by a contact that the method can reach. */
export function withPerson<T>(fields: CallerFields, method: Method, use: (person: Person) => T): Reading<T> {
  const contact = parseUser(fields.User)
  if (!contact || !contactFits(method, contact)) {
    const wanted = method === 'app' || method === 'email' || method === 'dual' ? method : 'phone'
    const hint = SPACED.test(fields.User) ? '; a plus sign in a form is written %2B' : ''
    return refuse({ field: 'User', detail: EXPECTED[wanted] + hint })
  }
  const user = canonicalUser(contact)
  // The two kinds of names are kept apart, so that no Account can be spelled like somebody else's contact.
  const account = fields.Account === undefined ? `contact:${user}` : `account:${fields.Account}`
  return {
    ok: true,
    value: use({ account, contact, user, locale: fields.Locale, clientAddress: fields.ClientAddress }),
  }
}
