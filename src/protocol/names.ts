import * as z from 'zod'
import { createObjectSchema, type Schemas, type ShapeOf } from '../shape.js'
import { KEY_METHOD, KEY_METHODS, KEY_TYPE, KEY_TYPES, METHODS, type Method } from './methods.js'

/** The values translated between the HTTP API and the method of a verb. */
export interface Translated {
  /** The parameters of a POST. Without them, it is a GET. */
  readonly body?: z.ZodObject
  /** The parameters that the request does not name itself. Defaults to none. */
  encode?(request: never): Readonly<Record<string, string | undefined>>
  /** The body of a response with status 200, and the same answer as the method returns it. */
  readonly answer: z.ZodCodec<z.ZodObject, z.ZodType>
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

/** Whether all words of the parameter `Type` are methods. In a verification they are not: `PHONE` is three. */
type IsMethod<Type> = [Word<Type>] extends [Method] ? true : false

type Caller = 'User' | 'Account' | 'ClientAddress' | 'Locale'
type MemberName<Name, Value> = Name extends Caller
  ? never
  : Name extends 'Type'
    ? IsMethod<Value> extends true
      ? 'method'
      : 'type'
    : Uncapitalize<Name & string>

/** The members of a request that these parameters are, apart from those that name the user. */
export type Members<Fields> = {
  readonly [Name in keyof Fields as MemberName<Name, Fields[Name]>]: MemberName<
    Name,
    Fields[Name]
  > extends 'type'
    ? Fields[Name]
    : Word<Fields[Name]>
}

const CALLER: readonly string[] = ['User', 'Account', 'ClientAddress', 'Locale']

/** The members of a request that valid parameters are, apart from those that name the user. */
export function readMembers<Body extends z.ZodObject>(
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
export function writeParameters(
  body: z.ZodObject,
  request: object,
): Readonly<Record<string, string | undefined>> {
  const parameters = ownParameters(body).map(({ name, member, words }) => {
    const value: unknown = Reflect.get(request, member)
    return [name, words?.find(([, word]) => word === value)?.[0] ?? writeText(value)]
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
  const parameters = names.map(([name, field]) => createParameter(name, field))
  parametersOfBodies.set(body, parameters)
  return parameters
}

function createParameter(name: string, field: z.core.$ZodType): Parameter {
  const type = field instanceof z.ZodOptional ? field.unwrap() : field
  const words =
    type instanceof z.ZodEnum
      ? type.options.map((option) => [String(option), encodeWord(String(option))] as const)
      : undefined
  if (name !== 'Type') return { name, member: name.charAt(0).toLowerCase() + name.slice(1), words }
  const isMethod = words?.every(([, word]) => (METHODS as readonly string[]).includes(word))
  return isMethod ? { name, member: 'method', words } : { name, member: 'type', words: undefined }
}

function encodeWord(value: string): string {
  return value.toLowerCase().replace('_', '-')
}

function writeText(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The parameters of a request, apart from those that name the user. */
export function ownParametersOf(
  verb: Omit<Translated, 'answer'>,
  request: object,
): Readonly<Record<string, string | undefined>> {
  return { ...(verb.body && writeParameters(verb.body, request)), ...verb.encode?.(request as never) }
}

/** The body of a response with status 200. `request` is what `readMembers` returned. */
export function writeBody({ answer, body }: Translated, granted: unknown, request: unknown): object {
  const type = body && writeParameters(body, Object(request)).Type
  return z.encode(answer, { type, ...Object(granted) })
}

/*
 * An answer is written once: as the body of a response, each member with its form in both places. `backup_codes_left` in the body is
 * `backupCodesLeft` in the answer, and `expires_in` is `expiresInSeconds`.
 */

/** The name of a member of an answer by that in the body. */
type Named<Name, Names> = Name extends keyof Names ? Names[Name] : CamelCase<Name>
type CamelCase<Name> = Name extends `${infer What}_in`
  ? `${CamelCase<What>}InSeconds`
  : Name extends `${infer Start}_${infer Rest}`
    ? `${Start}${Capitalize<CamelCase<Rest>>}`
    : Name

function camelCase(name: string): string {
  return name.replace(/_in$/, '_in_seconds').replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

/** An answer as the methods return it. */
type Own<Members extends Schemas<Members>, Names, Beside extends z.ZodRawShape> = Renamed<
  z.output<z.ZodObject<ShapeOf<Members>>>,
  Names
> &
  (keyof Beside extends never ? unknown : z.output<z.ZodObject<Beside>>)
type Renamed<Body, Names> = { [Name in keyof Body as Named<Name, Names> & string]: Body[Name] }

/** The body of a response, and the answer that it is. */
export type AnswerCodec<
  Members extends Schemas<Members>,
  Names = unknown,
  Beside extends z.ZodRawShape = Record<never, never>,
> = z.ZodCodec<z.ZodObject<ShapeOf<Members>>, z.ZodType<Own<Members, Names, Beside>>>

/** The answer with these members. `names`: those named otherwise. `beside`: what is in no body. */
export function answer<
  Members extends Schemas<Members>,
  const Names extends Readonly<Record<string, string>> = Record<never, never>,
  Beside extends z.ZodRawShape = Record<never, never>,
>(members: Members, names?: Names, beside?: Beside): AnswerCodec<Members, Names, Beside> {
  const pairs = Object.entries<z.ZodType>({ ...members }).map(
    ([name, schema]) => [name, names?.[name] ?? camelCase(name), schema] as const,
  )
  const own = Object.fromEntries(pairs.map(([, name, schema]) => [name, pickSide(schema, 'out')]))
  const always = Object.entries(beside ?? {}).flatMap(([name, schema]) =>
    schema instanceof z.ZodLiteral ? [[name, schema.value] as const] : [],
  )
  const toAnswer = pairs.map(([from, to]) => [from, to] as const)
  const toBody = pairs.map(([to, from]) => [from, to] as const)
  const codec = z.codec(createObjectSchema(members), z.object({ ...own, ...beside }), {
    decode: (body) => ({ ...Object.fromEntries(always), ...renameMembers(body, toAnswer) }),
    encode: (answer) => renameMembers(answer, toBody) as never,
  })
  return codec as unknown as AnswerCodec<Members, Names, Beside>
}

/** The members of an object that are given, under other names. */
function renameMembers(
  object: object,
  names: readonly (readonly [string, string])[],
): Record<string, unknown> {
  const members = names.map(([from, to]) => [to, Reflect.get(object, from)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

/** A schema in the form that a body has (`in`) or an answer (`out`). */
export function pickSide(schema: z.core.$ZodType, side: 'in' | 'out'): z.ZodType {
  if (schema instanceof z.ZodCodec) return pickSide(schema.def[side], side)
  if (schema instanceof z.ZodOptional) return pickSide(schema.unwrap(), side).optional()
  if (schema instanceof z.ZodArray)
    return schema.clone({ ...schema.def, element: pickSide(schema.element, side) })
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.shape).map(([name, member]) => [name, pickSide(member, side)])
    return schema.clone({ ...schema.def, shape: Object.fromEntries(shape) })
  }
  return schema as z.ZodType
}

/** A member that the Countersign service always sends, and another service may leave out. */
export const allowMissing = <Sent extends z.ZodType>(sent: Sent) =>
  loosely(sent, pickSide(sent, 'out') as z.ZodType<z.output<Sent>>)

/** Such a member, for which another service may give what `accepted` makes fit. */
export function loosely<Sent extends z.ZodType, Accepted extends z.ZodType>(sent: Sent, accepted: Accepted) {
  return z.codec(sent, accepted.optional(), {
    decode: (value) => value as z.input<Accepted>,
    encode: (value) => value as z.output<Sent>,
  })
}

/** A point in time: milliseconds since 1970, in a body an ISO 8601 time in UTC. */
export const time = z.codec(z.iso.datetime(), z.number().nonnegative(), {
  decode: (text) => Date.parse(text),
  encode: (ms) => new Date(ms).toISOString(),
})

/** A kind of keys, in a body its `Type`. */
export const keyMethod = z.codec(z.enum(KEY_TYPES), z.enum(KEY_METHODS), {
  decode: (type) => KEY_METHOD[type],
  encode: (method) => KEY_TYPE[method],
})

/** One of two words, in a body `true` or `false`. */
export const createWordPair = <const Yes extends string, const No extends string>(yes: Yes, no: No) =>
  z.codec(z.boolean(), z.union([z.literal(yes), z.literal(no)]), {
    decode: (is): Yes | No => (is ? yes : no),
    encode: (word) => word === yes,
  })

/** A word that is `true` in a body. */
export const createTrueWord = <const Word extends string>(word: Word) =>
  z.codec(z.literal(true), z.literal(word), { decode: (): Word => word, encode: () => true as const })
