import * as z from 'zod'
import { KEY_FAULTS } from './keys.js'
import { METHODS, type Method } from './methods.js'
import type { ServicePart } from './service.js'
import { refusedAnswer } from './service-refusal.js'
import type { Scope, ServiceProblemCode } from './wire.js'

/** A verb of the service: how it is called over HTTP, and what it answers there and in the same process. */
export interface Verb {
  /** The path of its route. A name in braces stands for that member of the request. */
  readonly path: string
  /** The parameters of a POST. Without them, it is a GET. */
  readonly body?: z.ZodObject
  /** The parameters that the request does not name itself. Defaults to none. */
  encode?(request: never): Readonly<Record<string, string | undefined>>
  /** The method whose contacts it takes, if no parameter `Type` says so. Defaults to all. */
  readonly contactsOf?: Method
  /** How many bytes its body may have. Defaults to 4 KB. */
  readonly maxBytes?: number
  /**
   * The body of a response with status 200 (`in`), and the same answer as the method of the interface returns it (`out`). `toBody`
   * converts the answer to a valid request if the two are no codec.
   */
  readonly answer: {
    readonly in: z.ZodType
    readonly out: z.ZodType
    toBody?(answer: never, request: never): object
  }
  /** The problems of its own with which it responds. The method returns those about the user as values. */
  readonly problems: readonly ServiceProblemCode[]
  /** The part of the service that it belongs to: calls pause when that part fails. */
  readonly part: ServicePart
  /** The scope that an API key needs for it. */
  readonly scope: Scope
  /** Whether a request that is repeated with its idempotency key is carried out once. Defaults to no. */
  readonly once?: true
  /** A shorter time limit than that of the service, for what a page can do without. */
  readonly timeoutMs?: number
  /** What a service without the verb answers. */
  readonly without?: 'undefined' | 'method_off'
  /** The `detail` of the problem `not_found`. */
  readonly absent?: string
  /** What the OpenAPI document says about it. */
  readonly words: VerbWords
}

/** The words about a verb in the OpenAPI document. */
interface VerbWords {
  /** The id of the operation. */
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** Defaults to `Second factor`. */
  readonly tag?: string
  /** What a response with status 200 is. Defaults to a success. */
  readonly success?: string
  /** The names in braces in the path. */
  readonly parameters?: Readonly<
    Record<string, { readonly description: string; readonly maxLength: number; readonly example: string }>
  >
}

/** The parameters of a request, apart from those that name the user. */
export function ownParametersOf(verb: Verb, request: object): Readonly<Record<string, string | undefined>> {
  return { ...(verb.body && parametersOf(verb.body, request)), ...verb.encode?.(request as never) }
}

/** The body of a response with status 200. */
export function bodyOf({ answer, path }: Verb, granted: unknown, request: unknown): object {
  if (answer instanceof z.ZodCodec) return Object(z.encode(answer, granted))
  if (!answer.toBody) throw new TypeError(`The verb at ${path} has no function toBody.`)
  return answer.toBody(granted as never, request as never)
}

const REFUSALS: readonly ServiceProblemCode[] = [
  'factor_disabled',
  'method_off',
  'contact_refused',
  'phone_at_risk',
  'delivery_failed',
  'limited',
  'locked',
]

/** Whether refusals are among the answers of a verb. Of another verb, a refusal is an error. */
export function canRefuse({ problems }: Verb): boolean {
  return problems.some((code) => REFUSALS.includes(code))
}

/** Whether the method can return `undefined`. */
function canBeUndefined({ problems, without }: Verb): boolean {
  return without === 'undefined' || problems.includes('not_found')
}

const invalidCode = z.object({ outcome: z.literal('invalid'), clockSteps: z.int().optional() })
const invalidKey = z.object({ outcome: z.literal('invalid'), fault: z.enum(KEY_FAULTS) })

/** The schema of everything that the method of a verb returns. */
export function returned(verb: Verb): z.ZodType {
  const { problems, answer } = verb
  const outcomes = [
    ...(problems.includes('invalid_code') ? [invalidCode] : []),
    ...(problems.includes('invalid_key') ? [invalidKey] : []),
    ...(canRefuse(verb) ? [refusedAnswer] : []),
  ]
  const schema = outcomes.length === 0 ? answer.out : withOutcomes(answer.out, outcomes)
  return canBeUndefined(verb) ? schema.optional() : schema
}

/** A union that reports the faults of the member that the value means. */
function withOutcomes(granted: z.ZodType, others: readonly z.ZodObject[]): z.ZodType {
  const isTold = granted instanceof z.ZodObject && 'outcome' in granted.shape
  return isTold ? z.discriminatedUnion('outcome', [granted, ...others]) : z.union([granted, ...others])
}

/*
 * How the parameters of the HTTP API name the members of a request: `Challenge` is `challenge`. `Type` is the member `method`. A word
 * in capitals is that of the member: `SECURITY_KEY` is `security-key`. An object is JSON.
 */

type Word<Value> = Value extends string
  ? string extends Value
    ? Value
    : Lowercase<Value> extends `${infer Start}_${infer End}`
      ? `${Start}-${End}`
      : Lowercase<Value>
  : Value

/** Whether all words of the parameter `Type` are methods. Those of a verification are not: `PHONE` is three. */
type IsMethod<Type> = [Word<Type>] extends [Method] ? true : false

type Caller = 'User' | 'Account' | 'ClientAddress' | 'Locale'

/** The members of a request that these parameters are, apart from those that name the user. */
export type Members<Fields> = {
  readonly [Name in Exclude<keyof Fields, Caller | 'Type'> as Uncapitalize<Name & string>]: Word<Fields[Name]>
} & (Fields extends { readonly Type: infer Type }
  ? IsMethod<Type> extends true
    ? { readonly method: Word<Type> }
    : { readonly type: Type }
  : unknown)

const CALLER: readonly string[] = ['User', 'Account', 'ClientAddress', 'Locale']

/** The members of a request that valid parameters are, apart from those that name the user. */
export function membersOf<Body extends z.ZodObject>(
  body: Body,
  fields: z.output<Body>,
): Members<z.output<Body>> {
  const members = ownParameters(body).map(({ name, member, words }) => {
    const value: unknown = Reflect.get(fields, name)
    return [member, words?.find(([word]) => word === value)?.[1] ?? value]
  })
  return Object.fromEntries(members)
}

/** The parameters that a request is, apart from those that name the user. A value that does not fit is left to the service. */
export function parametersOf(
  body: z.ZodObject,
  request: object,
): Readonly<Record<string, string | undefined>> {
  const parameters = ownParameters(body).map(({ name, member, words }) => {
    const value: unknown = Reflect.get(request, member)
    return [name, words?.find(([, word]) => word === value)?.[0] ?? textOf(value)]
  })
  return Object.fromEntries(parameters)
}

interface Parameter {
  readonly name: string
  readonly member: string
  /** The words that it accepts, each as the parameter and as the request writes it, if that differs. */
  readonly words: readonly (readonly [string, string])[] | undefined
}

const parametersOfBodies = new WeakMap<z.ZodObject, readonly Parameter[]>()

function ownParameters(body: z.ZodObject): readonly Parameter[] {
  const known = parametersOfBodies.get(body)
  if (known) return known
  const names = Object.entries(body.shape).filter(([name]) => !CALLER.includes(name))
  const parameters = names.map(([name, field]) => parameterOf(name, field))
  parametersOfBodies.set(body, parameters)
  return parameters
}

function parameterOf(name: string, field: z.core.$ZodType): Parameter {
  const type = field instanceof z.ZodOptional ? field.unwrap() : field
  const words =
    type instanceof z.ZodEnum
      ? type.options.map((option) => [String(option), wordOf(String(option))] as const)
      : undefined
  if (name !== 'Type') return { name, member: name.charAt(0).toLowerCase() + name.slice(1), words }
  const isMethod = words?.every(([, word]) => (METHODS as readonly string[]).includes(word))
  return isMethod ? { name, member: 'method', words } : { name, member: 'type', words: undefined }
}

function wordOf(value: string): string {
  return value.toLowerCase().replace('_', '-')
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
