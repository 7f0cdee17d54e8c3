import * as z from 'zod'
import { type Caller, formatUser, type UserRequest } from '../protocol/contact.js'
import { ownParametersOf } from '../protocol/names.js'
import { canRefuse, type Verb } from '../protocol/verb.js'
import { pickGiven } from '../shape.js'
import { keyFaultIn, problemCode, readRefusal } from './refusals.js'
import { invalidResponse, validFields } from './response-validation.js'
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
  const createCall = (verb: Verb) => async (request: object) => {
    const path = pathOf(verb.path)
    if (!verb.body) return answerOf(verb, await get(fillPath(path, request), verb.timeoutMs))
    const { contact, ...caller } = request as UserRequest
    const { account, clientAddress, locale } = caller
    const user = { User: formatUser(contact), ...extras(pickGiven({ account, clientAddress, locale })) }
    return answerOf(verb, await post(path, { ...user, ...ownParametersOf(verb, request) }))
  }
  const calls = Object.entries<Verb>(verbs).map(([name, verb]) => [name, createCall(verb)])
  return Object.fromEntries(calls)
}

/** The path with the members of the request that it names. */
function fillPath(path: string, request: object): string {
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
    const refused = readRefusal(answer, describeTooMany(verb))
    if (canRefuse(verb)) return refused
    throw invalidResponse(`unexpected status ${answer.status}`)
  }
  const read = z.safeDecode(verb.answer, validFields(answer))
  if (read.success) return pickGiven(Object(read.data))
  throw invalidResponse(`a body that does not follow the API of ${path}`)
}

const ABSENT = {
  undefined: undefined,
  method_off: { outcome: 'refused', refusal: { reason: 'method_off' } },
} as const

/** The meaning of a 429 without a reason: a verb without a limit of requests refuses because of too many wrong codes. */
function describeTooMany({ problems }: Verb): 'limited' | 'locked' {
  return problems.includes('locked') && !problems.includes('limited') ? 'locked' : 'limited'
}
