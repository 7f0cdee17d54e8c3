import {
  type Contact,
  canonicalUser,
  contactFits,
  deliverableContact,
  type KEY_VERBS,
  type Method,
  parseUser,
  type RequestOf,
  readMembers,
  VERBS,
  type Verb,
  type VerbName,
} from 'countersign/protocol'
import { transcriptionWire } from 'countersign/speech'
import * as z from 'zod'
import type { SpeechOptions } from '../transcription/engines/transcriber.js'

/** The input of the flow of a verb: the user, and the members of the request. */
export type VerbInput<Row extends Verb> = RequestUser &
  (Row extends { readonly body: infer Body extends z.ZodObject }
    ? ReturnType<typeof readMembers<Body>>
    : unknown)

/** The input of the flow of the verb of this name. */
export type InputOf<Name extends VerbName> = Verbs[Name] extends VerbWithBody
  ? VerbInput<Verbs[Name]>
  : RequestOf<Name>

type Verbs = typeof VERBS & typeof KEY_VERBS

/** A verb that takes parameters. */
export type VerbWithBody = Verb & { readonly body: z.ZodObject }

/** A method whose contacts a request with this `Type` accepts. Keys accept all. */
const METHOD_OF: Readonly<Record<string, Method>> = {
  EMAIL: 'email',
  SMS: 'sms',
  WHATSAPP: 'whatsapp',
  CALL: 'call',
  PHONE: 'sms',
  APP: 'app',
  DUAL: 'dual',
}

/** Validates the parameters of a verb; the contact must fit the method. */
export function parseVerb<Row extends VerbWithBody>(
  { body: schema, contactsOf }: Row,
  body: unknown,
): Parsed<VerbInput<Row>> {
  return parse(schema, body, (parameters) => {
    const fields = parameters as Readonly<Partial<Record<string, string>>>
    const { Type = '', User = '', Account, Locale: locale, ClientAddress: clientAddress } = fields
    const parsed = parseUser(User)
    const contact = parsed && deliverableContact(parsed)
    const method = contactsOf ?? METHOD_OF[Type] ?? (contact?.kind === 'dual' ? 'dual' : 'app')
    if (!contact || !contactFits(method, contact)) {
      const expected = method === 'app' || method === 'email' || method === 'dual' ? method : 'phone'
      return invalid({ field: 'User', detail: EXPECTED[expected] })
    }
    const canonicalContact = canonicalUser(contact)
    const account = accountName(Account, canonicalContact)
    const user: RequestUser = { account, contact, canonicalContact, locale, clientAddress }
    return { ok: true, value: { ...user, ...readMembers(schema, parameters) } as VerbInput<Row> }
  })
}

/** Validates the parameters of `POST /v1/transcribe`, except for an uploaded file. */
export function parseTranscribe(body: unknown): Parsed<SpeechOptions & { readonly file: string }> {
  return parse(transcriptionWire.transcribeBody, body, ({ response_format: format, ...value }) => ({
    ok: true,
    value: { ...value, ...(format && { format }) },
  }))
}

/** Validates a request with an address. An unknown parameter is the rest of one that was cut at its `&`. */
export function parseAddress(body: unknown): ReturnType<typeof parseTranscribe> {
  const parsed = parseTranscribe(body)
  const known = transcriptionWire.transcribeBody.shape
  const unknown = Object.keys(Object(body)).filter((name) => !Object.hasOwn(known, name))
  if (unknown.length === 0) return parsed
  const detail = 'is unknown: if it belongs to the address, encode that (curl --data-urlencode file=…)'
  return invalid(...(parsed.ok ? [] : parsed.errors), ...unknown.map((field) => ({ field, detail })))
}

/** The body of the calls about the data of an account. */
export const accountBody = z.object({
  Account: VERBS.factorsOf.body.shape.Account,
  User: VERBS.factorsOf.body.shape.User.optional(),
})

/** Validates a body that names an account; the result is its name in rows. */
export function parseAccount(body: unknown): Parsed<string> {
  return parse(accountBody, body, ({ Account, User }) => {
    if (Account !== undefined) return { ok: true, value: accountName(Account, '') }
    const contact = User === undefined ? undefined : parseUser(User)
    if (contact) return { ok: true, value: accountName(undefined, canonicalUser(contact)) }
    return User === undefined
      ? invalid({ field: 'Account', detail: 'or User must be given' })
      : invalid({
          field: 'User',
          detail: 'must be a contact: an email address, a phone number in E.164 form, or both',
        })
  })
}

/** The fault in one parameter. */
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
  if (!parsed.success) return invalid(...listErrors(parsed.error))
  const unprintable = Object.entries(parsed.data)
    .filter(([, value]) => typeof value === 'string' && UNPRINTABLE.test(value))
    .map(([field]) => ({ field, detail: 'must not contain control characters or invalid UTF-8' }))
  return unprintable.length > 0 ? invalid(...unprintable) : use(parsed.data)
}

function listErrors(error: z.ZodError): FieldError[] {
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
  /** The contact to which messages are sent: as the caller wrote it, with the domain of a mailbox in ASCII. */
  readonly contact: Contact
  /** The contact in its canonical form, the same for all spellings of one mailbox or number. */
  readonly canonicalContact: string
  readonly locale: string | undefined
  readonly clientAddress: string | undefined
}

const EXPECTED: Readonly<Record<Contact['kind'] | 'app', string>> = {
  email: 'must be an email address such as name@example.com',
  phone: 'must be a phone number in E.164 form, such as +447700900123',
  dual: 'must be <EMAIL>:<PHONE_E164>, such as name@example.com:+447700900123',
  app: 'must be an email address or a phone number in E.164 form',
}

/** How rows name an account. The prefixes keep the two kinds of names apart, so that no Account can equal a contact. */
function accountName(name: string | undefined, canonicalContact: string): string {
  return name === undefined ? `contact:${canonicalContact}` : `account:${name}`
}
