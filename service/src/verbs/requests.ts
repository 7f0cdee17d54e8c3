import {
  type BackupMethod,
  backupBody,
  type CodeKind,
  type Contact,
  canonicalUser,
  contactFits,
  type DeliveredMethod,
  enrollAppBody,
  type Method,
  type Purpose,
  parseUser,
  sendBody,
  type VerifyType,
  verifyBody,
} from 'countersign/protocol'
import type * as z from 'zod'

/** What is wrong with one parameter. */
export interface FieldFault {
  readonly field: string
  readonly detail: string
}

/** Parameters that may be believed, or everything that is wrong with them. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: FieldFault[] }

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

export interface SendInput extends Person {
  readonly method: DeliveredMethod
  readonly challenge: string | undefined
  readonly transaction: string | undefined
  readonly purpose: Purpose
}

export interface VerifyInput extends Person {
  readonly type: VerifyType
  readonly code: string
  readonly kind: CodeKind | undefined
  readonly challenge: string | undefined
  readonly transaction: string | undefined
}

export interface BackupInput extends Person {
  readonly method: BackupMethod
}

/** Reads the parameters of `POST /v1/mfa`. */
export function readSend(body: unknown): Reading<SendInput> {
  return read(sendBody, body, (parsed) => {
    const method = parsed.Type.toLowerCase() as DeliveredMethod
    return withPerson(parsed, method, (person) => ({
      ...person,
      method,
      challenge: parsed.Challenge,
      transaction: parsed.Transaction,
      purpose: parsed.Purpose ?? 'sign-in',
    }))
  })
}

const FITTING: Readonly<Record<VerifyType, Method>> = {
  EMAIL: 'email',
  PHONE: 'sms',
  APP: 'app',
  DUAL: 'dual',
}

/** Reads the parameters of `POST /v1/mfa/verify`. */
export function readVerify(body: unknown): Reading<VerifyInput> {
  return read(verifyBody, body, (parsed) =>
    withPerson(parsed, FITTING[parsed.Type], (person) => ({
      ...person,
      type: parsed.Type,
      code: parsed.Code,
      kind: parsed.Kind?.toLowerCase() as CodeKind | undefined,
      challenge: parsed.Challenge,
      transaction: parsed.Transaction,
    })),
  )
}

/** Reads the parameters of `POST /v1/mfa/app`. */
export function readEnrollApp(body: unknown): Reading<Person> {
  return read(enrollAppBody, body, (parsed) => withPerson(parsed, 'app', (person) => person))
}

/** Reads the parameters of `POST /v1/mfa/backup`. */
export function readBackup(body: unknown): Reading<BackupInput> {
  return read(backupBody, body, (parsed) => {
    const method = parsed.Type.toLowerCase() as BackupMethod
    return withPerson(parsed, method, (person) => ({ ...person, method }))
  })
}

// U+FFFD stands for bytes that were no UTF-8: two different broken names would become one account.
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\ufffd]/u

function read<Parsed extends object, T>(
  schema: z.ZodType<Parsed>,
  body: unknown,
  use: (parsed: Parsed) => Reading<T>,
): Reading<T> {
  const parsed = schema.safeParse(body ?? {})
  if (!parsed.success) return refuse(...faultsOf(parsed.error))
  const unprintable = Object.entries(parsed.data)
    .filter(([, value]) => typeof value === 'string' && UNPRINTABLE.test(value))
    .map(([field]) => ({ field, detail: 'must not contain control characters or broken UTF-8' }))
  return unprintable.length > 0 ? refuse(...unprintable) : use(parsed.data)
}

function faultsOf(error: z.ZodError): FieldFault[] {
  const faults = new Map<string, string>()
  for (const issue of error.issues) {
    const field = issue.path.length > 0 ? issue.path.join('.') : 'body'
    if (!faults.has(field)) faults.set(field, issue.path.length > 0 ? issue.message : 'must be an object')
  }
  return [...faults].map(([field, detail]) => ({ field, detail }))
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

function withPerson<T>(fields: CallerFields, method: Method, use: (person: Person) => T): Reading<T> {
  const contact = parseUser(fields.User)
  if (!contact || !contactFits(method, contact)) {
    const wanted = method === 'app' || method === 'email' || method === 'dual' ? method : 'phone'
    return refuse({ field: 'User', detail: EXPECTED[wanted] })
  }
  const user = canonicalUser(contact)
  // The two kinds of names are kept apart, so that no Account can be spelled like somebody else's contact.
  const account = fields.Account === undefined ? `contact:${user}` : `account:${fields.Account}`
  return {
    ok: true,
    value: use({ account, contact, user, locale: fields.Locale, clientAddress: fields.ClientAddress }),
  }
}

function refuse(...faults: FieldFault[]): { readonly ok: false; readonly faults: FieldFault[] } {
  return { ok: false, faults }
}
