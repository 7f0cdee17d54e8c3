import { pickSide, type Verb } from 'countersign/protocol'
import * as z from 'zod'
import type { MemberWords, VerbFlow, Words } from '../../../flows/verb-flows.js'

/*
 * The schemas of the document: the verbs' schemas, with words. The document names a schema by its identity, so each is made once.
 */

/** The description of the parameter `Account`. */
export const ACCOUNT: Words = {
  says: 'Your id of the account. Its contacts then share their limits on messages and wrong codes. Without it, every contact is an account of its own.',
  examples: ['user-1042'],
}

const CALLER: MemberWords = {
  User: {
    says: 'An email address, a phone number in E.164 format, or for DUAL both: `<EMAIL>:<PHONE_E164>`.',
    examples: ['ann@example.com', '+447700900123', 'ann@example.com:+447700900123'],
  },
  Account: ACCOUNT,
  ClientAddress: {
    says: 'IP address of the user, for an additional limit on messages.',
    examples: ['192.0.2.7', '2001:db8::7'],
  },
  Locale: { says: 'Language of the message, a BCP 47 tag.', examples: ['en', 'pt-BR'] },
}

/** The body and the answer of a verb, as the document describes them. */
export interface DescribedVerb {
  readonly body: z.ZodType | undefined
  readonly answer: z.ZodType
}

const known = new WeakMap<Verb, DescribedVerb>()

/** The body and the answer of a verb, with what the document says of their members. */
export function describeVerb({ verb, body: ofBody = {}, answer: ofAnswer = {} }: VerbFlow): DescribedVerb {
  const made = known.get(verb) ?? {
    body: verb.body && describeSchema(verb.body, { ...CALLER, ...ofBody }),
    answer: describeSchema(pickSide(verb.answer, 'in'), ofAnswer),
  }
  known.set(verb, made)
  return made
}

/** A body or an answer with what the document says of its members. Throws if it lacks a member that has words. */
export function describeSchema(schema: z.ZodType, words: MemberWords): z.ZodType {
  if (schema instanceof z.ZodOptional) return describeSchema(schema.unwrap() as z.ZodType, words).optional()
  if (schema instanceof z.ZodArray) {
    return schema.clone({ ...schema.def, element: describeSchema(schema.element as z.ZodType, words) })
  }
  if (!(schema instanceof z.ZodObject))
    throw new TypeError(`${Object.keys(words)} has no place in the schema.`)
  const shape: Record<string, z.ZodType> = { ...schema.shape }
  for (const [name, about] of Object.entries(words)) {
    const member = shape[name]
    if (!member) throw new TypeError(`There is no member ${name} to describe.`)
    shape[name] = addWords(member, about)
  }
  return schema.clone({ ...schema.def, shape })
}

function addWords(member: z.ZodType, words: Words): z.ZodType {
  const { says, examples, members } = typeof words === 'string' ? { says: words } : words
  const whole = members ? describeSchema(member, members) : member
  return says === undefined ? whole : whole.meta({ description: says, ...(examples && { examples }) })
}
