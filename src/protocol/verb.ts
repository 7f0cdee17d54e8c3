import * as z from 'zod'
import { createObjectSchema, type Schemas, type ShapeOf } from '../shape.js'
import type { UserRequest } from './contact.js'
import { keyFault } from './keys-wire.js'
import type { Method } from './methods.js'
import type { Members, Translated } from './names.js'
import { REFUSAL_REASONS, type Refused, refusedAnswer, type ServiceRefusal } from './service-refusal.js'
import type { Scope, ServiceProblemCode } from './wire.js'
import { caller, user } from './wire-parts.js'

/** A part of the service that can fail while the others work, such as when only the carrier is down. */
export type ServicePart = 'delivery' | 'checking' | 'delivery_state'

/** A verb of the service: how it is called over HTTP, and what it answers there and in the same process. */
export interface Verb extends Translated {
  /** The path of its route. A name in braces stands for that member of the request. */
  readonly path: string
  /** Parameters that are optional over HTTP, and that a request to the method always has. */
  readonly always?: readonly string[]
  /** The method whose contacts it takes, if no parameter `Type` says so. Defaults to all. */
  readonly contactsOf?: Method
  /** How many bytes its body may have. Defaults to 4 KB. */
  readonly maxBytes?: number
  /** The problems of its own with which it responds. The method returns those about the user as values. */
  readonly problems: readonly ServiceProblemCode[]
  /** The part of the service that it belongs to: calls pause when that part fails. */
  readonly part: ServicePart
  /** The scope that an API key needs for it. */
  readonly scope: Scope
  /** Whether a request that is repeated with its idempotency key is carried out once. Defaults to no. */
  readonly once?: true
  /** A shorter time limit than the service's, for what a page can do without. */
  readonly timeoutMs?: number
  /** The answer of a service without the verb. */
  readonly without?: 'undefined' | 'method_off'
  /** The `detail` of the problem `not_found`. */
  readonly absent?: string
}

/** The parameters of a request about a user. */
export function createBody<Members extends Schemas<Members>>(
  members: Members,
): z.ZodObject<{ User: typeof user } & ShapeOf<Members> & typeof caller> {
  return z.object({ User: user, ...createObjectSchema(members).shape, ...caller })
}

/** Whether refusals are among the answers of a verb. Of another verb, a refusal is an error. */
export function canRefuse({ problems }: Verb): boolean {
  return problems.some((code) => REFUSAL_REASONS.includes(code))
}

class InvalidCode {
  readonly outcome = z.literal('invalid')
  /**
   * For an app with a slow clock: how many 30-second steps ago the code was valid, as a negative number, if the service says so.
   */
  readonly clockSteps = z.int().optional()
}

const invalidCode = createObjectSchema(new InvalidCode())
const invalidKey = z.object({ outcome: z.literal('invalid'), fault: keyFault })

/** The schema of everything that the method of a verb returns. */
export function createReturned(verb: Verb): z.ZodType {
  const { problems, answer, without } = verb
  const outcomes = [
    ...(problems.includes('invalid_code') ? [invalidCode] : []),
    ...(problems.includes('invalid_key') ? [invalidKey] : []),
    ...(canRefuse(verb) ? [refusedAnswer] : []),
  ]
  const schema = outcomes.length === 0 ? answer.out : addOutcomes(answer.out, outcomes)
  return without === 'undefined' || problems.includes('not_found') ? schema.optional() : schema
}

/** A union that reports the faults of the member that the value means. */
function addOutcomes(granted: z.ZodType, others: readonly z.ZodObject[]): z.ZodType {
  const isTold = granted instanceof z.ZodObject && 'outcome' in granted.shape
  return isTold ? z.discriminatedUnion('outcome', [granted, ...others]) : z.union([granted, ...others])
}

/** A value that cannot be changed, nor can what it consists of. A member that is optional is absent, not `undefined`. */
export type Frozen<Value> = Value extends object
  ? { readonly [Name in keyof Value]: Frozen<Exclude<Value[Name], undefined>> }
  : Value

/** The result of the method of a verb that did its work. */
export type GrantedBy<Row extends Verb> = Frozen<z.output<Row['answer']>>

/** The result of the method of a verb. */
export type AnswerTo<Row extends Verb> =
  | GrantedBy<Row>
  | (Can<Row, 'invalid_code'> extends true ? Frozen<z.output<typeof invalidCode>> : never)
  | (Can<Row, 'invalid_key'> extends true ? Frozen<z.output<typeof invalidKey>> : never)
  | (Can<Row, ServiceRefusal['reason']> extends true ? Refused : never)
  | (Can<Row, 'not_found'> extends true ? undefined : never)
  | (Row extends { readonly without: 'undefined' } ? undefined : never)
type Can<Row extends Verb, Problem> = Extract<Row['problems'][number], Problem> extends never ? false : true

/** The input of the method of a verb. */
export type RequestTo<Row extends Verb> = Row extends { readonly body: infer Body extends z.ZodObject }
  ? Frozen<UserRequest & Encoded<Row, Members<Always<Row, z.output<Body>>>>>
  : InPath<Row['path']>
type Always<Row, Fields> = Row extends { readonly always: readonly (infer Name)[] }
  ? Fields & { [Named in keyof Fields & Name]-?: Fields[Named] }
  : Fields
type Encoded<Row, Request> = Row extends { encode(request: infer Own): unknown }
  ? Own & Omit<Request, 'type'>
  : {
      [Name in keyof Request]: Request[Name] extends object
        ? Readonly<Record<string, unknown>>
        : Request[Name]
    }
type InPath<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Named in Name]: string } & InPath<Rest>
  : unknown
