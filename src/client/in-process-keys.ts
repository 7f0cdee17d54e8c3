import * as z from 'zod'
import { KEY_FAULTS, type KeyVerbs } from '../protocol/keys.js'
import { KEY_METHODS } from '../protocol/methods.js'
import { refusedAnswer } from './refused-answer.js'

/*
 * Schemas for the responses about keys of a service that the host passes as an object.
 */

const text = (max: number) => z.string().min(1).max(max)
const time = z.number().nonnegative()

const key = z.object({
  id: text(1_364),
  method: z.enum(KEY_METHODS),
  name: text(60),
  backupEligible: z.boolean(),
  backedUp: z.boolean(),
  createdAt: time,
  lastUsedAt: time.optional(),
})
const invalid = z.object({ outcome: z.literal('invalid'), fault: z.enum(KEY_FAULTS) })
const options = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('prepared'),
    options: z.looseObject({ challenge: text(128) }),
    expiresInSeconds: z.number().positive(),
  }),
  refusedAnswer,
])
const changed = <Outcome extends string>(outcome: Outcome) =>
  z.discriminatedUnion('outcome', [z.object({ outcome: z.enum([outcome, 'none']) }), refusedAnswer])

const schemas: Readonly<Record<keyof KeyVerbs, z.ZodType>> = {
  registrationOptions: options,
  register: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('registered'), key }),
    invalid,
    refusedAnswer,
  ]),
  authenticationOptions: options,
  authenticate: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('valid'), key, userVerified: z.boolean() }),
    invalid,
    refusedAnswer,
  ]),
  list: z.union([
    z.object({ keys: z.array(key), relyingPartyId: text(253).optional(), userHandle: text(128).optional() }),
    refusedAnswer,
  ]),
  rename: changed('renamed'),
  remove: changed('removed'),
  relyingParty: z
    .object({
      id: text(253),
      name: text(120),
      origins: z.array(text(300)),
      relatedOrigins: z.array(text(300)),
    })
    .optional(),
}

/** Has a response validated, and waits for it no longer than for any other verb. */
export type ValidateAnswer = <Answer>(
  verb: string,
  schema: z.ZodType,
  call: () => Promise<unknown>,
) => Promise<Answer>

/** Wraps the verbs for keys of the host's own service so that an invalid response is an error. */
export function validatedKeys(keys: KeyVerbs, validate: ValidateAnswer): KeyVerbs {
  const checked =
    <Verb extends keyof KeyVerbs>(verb: Verb) =>
    (...args: Parameters<KeyVerbs[Verb]>) =>
      validate<Awaited<ReturnType<KeyVerbs[Verb]>>>(`keys.${verb}`, schemas[verb], () =>
        Reflect.apply(keys[verb], keys, args),
      )
  return {
    registrationOptions: checked('registrationOptions'),
    register: checked('register'),
    authenticationOptions: checked('authenticationOptions'),
    authenticate: checked('authenticate'),
    list: checked('list'),
    rename: checked('rename'),
    remove: checked('remove'),
    relyingParty: checked('relyingParty'),
  }
}
