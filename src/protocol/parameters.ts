import * as z from 'zod'
import { METHODS, type Method } from './methods.js'

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
    return [member, words && typeof value === 'string' ? wordOf(value) : value]
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
    return [name, words?.find((word) => wordOf(word) === value) ?? textOf(value)]
  })
  return Object.fromEntries(parameters)
}

interface Parameter {
  readonly name: string
  readonly member: string
  /** The words that it accepts, if they are written otherwise in the request. */
  readonly words: readonly string[] | undefined
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
  const words = type instanceof z.ZodEnum ? type.options.map(String) : undefined
  if (name !== 'Type') return { name, member: name.charAt(0).toLowerCase() + name.slice(1), words }
  const isMethod = words?.every((word) => (METHODS as readonly string[]).includes(wordOf(word)))
  return isMethod ? { name, member: 'method', words } : { name, member: 'type', words: undefined }
}

function wordOf(value: string): string {
  return value.toLowerCase().replace('_', '-')
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
