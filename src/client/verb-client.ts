import * as z from 'zod'
import { OptionsError } from '../errors.js'
import { type Caller, type Contact, formatUser, type UserRequest } from '../protocol/contact.js'
import { mapVerbs } from '../protocol/map-verbs.js'
import { ownParametersOf } from '../protocol/names.js'
import type { MfaService } from '../protocol/service.js'
import { canRefuse, type Verb } from '../protocol/verb.js'
import { onlyGiven } from '../shape.js'
import { invalidResponse, keyFaultIn, problemCode, refusalIn, validFields } from './response-validation.js'
import type { Answer } from './transport.js'

/** How the client calls the service. */
export interface VerbCalls {
  post(path: string, parameters: Readonly<Record<string, string | undefined>>): Promise<Answer>
  get(path: string, timeoutMs: number | undefined): Promise<Answer>
  /** The parameters that name the account and the client, if the service supports them. */
  extras(caller: Caller): Readonly<Record<string, string | undefined>>
  /** The path of the service for one of the table. Defaults to the same. */
  pathOf?(path: string): string
}

/** The HTTP calls of these verbs, by their names. */
export function verbClient<Verbs extends object>(
  verbs: { readonly [Name in keyof Verbs]: Verb },
  { post, get, extras, pathOf = (path) => path }: VerbCalls,
): Verbs {
  const clientOf = (verb: Verb) => async (request: object) => {
    const path = pathOf(verb.path)
    if (!verb.body) return answerOf(verb, await get(filled(path, request), verb.timeoutMs))
    const { contact, ...caller } = request as UserRequest
    const { account, clientAddress, locale } = caller
    const user = { User: formatUser(contact), ...extras(onlyGiven({ account, clientAddress, locale })) }
    return answerOf(verb, await post(path, { ...user, ...ownParametersOf(verb, request) }))
  }
  const calls = Object.entries<Verb>(verbs).map(([name, verb]) => [name, clientOf(verb)])
  return Object.fromEntries(calls)
}

/** The path with the members of the request that it names. */
function filled(path: string, request: object): string {
  return path.replace(/\{(\w+)\}/g, (_whole, name) => encodeURIComponent(String(Reflect.get(request, name))))
}

function answerOf(verb: Verb, answer: Answer): unknown {
  const { problems, path } = verb
  if (answer.status === 404) {
    if (problems.includes('not_found')) return undefined
    if (verb.without && problemCode(answer) === 'not_found') return ABSENT[verb.without]
  }
  const fault = problems.includes('invalid_key') ? keyFaultIn(answer) : undefined
  if (fault) return { outcome: 'invalid', fault }
  if (answer.status !== 200) {
    const refused = refusalIn(answer, tooManyOf(verb))
    if (canRefuse(verb)) return refused
    throw invalidResponse(`unexpected status ${answer.status}`)
  }
  const read = z.safeDecode(verb.answer, validFields(answer))
  if (read.success) return onlyGiven(Object(read.data))
  throw invalidResponse(`a body that does not follow the API of ${path}`)
}

const ABSENT = {
  undefined: undefined,
  method_off: { outcome: 'refused', refusal: { reason: 'method_off' } },
} as const

/** What a 429 without a reason means: a verb without a limit of requests refuses because of too many wrong codes. */
function tooManyOf({ problems }: Verb): 'limited' | 'locked' {
  return problems.includes('locked') && !problems.includes('limited') ? 'locked' : 'limited'
}

const E164 = /^\+[1-9]\d{6,14}$/

/**
 * Lets contacts have phone numbers as people write them, with a default country also without its code. libphonenumber-js is loaded
 * for the first one. A text that is no phone number fails the call with an `OptionsError`.
 */
export function withPhoneFormat<Service extends MfaService>(
  service: Service,
  country: string | undefined,
): Service {
  const formatted = mapVerbs(service, (name, { body }, call) => async (request?: WithContact) => {
    const contact = request?.contact
    if (body && !isContact(contact)) throw notAContact(name)
    if (!contact || contact.kind === 'email' || E164.test(contact.phone)) return call(request)
    return call({ ...request, contact: { ...contact, phone: await e164(contact.phone, country) } })
  })
  return { ...service, ...formatted }
}

function isContact(given: unknown): given is Contact {
  const { kind, email, phone } = Object(given)
  const isText = { email: [email], phone: [phone], dual: [email, phone] }[String(kind)]
  return isText?.every((part) => typeof part === 'string') ?? false
}

function notAContact(name: string): OptionsError {
  return new OptionsError([
    `${name} needs a contact, such as contact: { kind: 'phone', phone: '+447700900123' } or { kind: 'email', email: 'user@example.com' }`,
  ])
}

interface WithContact {
  readonly contact?: Contact
}

async function e164(phone: string, country: string | undefined): Promise<string> {
  const { isSupportedCountry, parsePhoneNumberFromString } = await loadLibrary()
  if (country !== undefined && !isSupportedCountry(country)) {
    throw new OptionsError([
      `country must be an ISO code of two capital letters, such as GB (got ${country})`,
    ])
  }
  const number = parsePhoneNumberFromString(phone, country)
  if (number?.isPossible()) return number.number
  const hint = country === undefined && !phone.trim().startsWith('+') ? ', or set the option country' : ''
  // The message must not contain the number (R84).
  throw new OptionsError([
    `A phone number of ${phone.length} characters is not valid: write it with its country code, such as +44 7700 900123${hint}`,
  ])
}

async function loadLibrary() {
  try {
    return await import('libphonenumber-js')
  } catch (cause) {
    throw Object.assign(
      new OptionsError([
        'Phone numbers that are not in E.164 format, like +447700900123, need the package libphonenumber-js: npm install libphonenumber-js',
      ]),
      { cause },
    )
  }
}
