import {
  canonicalUser,
  type KEY_VERBS,
  type Members,
  type Method,
  membersOf,
  parseUser,
  type rows,
  type TranscriptFormat,
  transcriptionWire,
  type VERBS,
  wire,
} from 'countersign/protocol'
import * as z from 'zod'
import {
  accountName,
  anyMethodFor,
  invalid,
  type Parsed,
  parse,
  type RequestUser,
  withUser,
} from './parse.js'

/** The input of the flow of a verb: the user, and the members of the request. */
export type VerbInput<Row extends rows.Verb> = RequestUser &
  (Row extends { readonly body: infer Body extends z.ZodObject } ? Members<z.output<Body>> : unknown)

/** The input of `sendCode`. */
export type SendInput = VerbInput<typeof VERBS.send>

/** The input of `verifyCode`. */
export type VerifyInput = VerbInput<typeof VERBS.verify>

/** The input of `sendBackupCodes`. */
export type BackupInput = VerbInput<typeof VERBS.sendBackupCodes>

/** A verb that takes parameters. */
export type VerbWithBody = rows.Verb & { readonly body: z.ZodObject }

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

/** Validates the parameters of a verb. */
export function parseVerb<Row extends VerbWithBody>(
  { body: schema, contactsOf }: Row,
  body: unknown,
): Parsed<VerbInput<Row>> {
  return parse(schema, body, (parameters) => {
    const { Type = '', User = '', ...caller } = parameters as Readonly<Partial<Record<string, string>>>
    const fields = { ...caller, User }
    const method = contactsOf ?? METHOD_OF[Type] ?? anyMethodFor(fields)
    const members = membersOf(schema, parameters)
    return withUser(fields, method, (user) => ({ ...user, ...members }) as VerbInput<Row>)
  })
}

/** The input of `transcribe`. */
export interface TranscribeInput {
  readonly file: string
  readonly language?: string | undefined
  readonly prompt?: string | undefined
  readonly format?: TranscriptFormat | undefined
}

/** Validates the parameters of `POST /v1/transcribe`, except for an uploaded file. */
export function parseTranscribe(body: unknown): Parsed<TranscribeInput> {
  return parse(transcriptionWire.transcribeBody, body, ({ response_format: format, ...value }) => ({
    ok: true,
    value: { ...value, ...(format && { format }) },
  }))
}

/** The body of the calls about the data of an account. */
export const accountBody = z.object({
  Account: wire.factorsBody.shape.Account,
  User: wire.factorsBody.shape.User.optional().meta({
    description: 'The contact of the account, if your requests about it have no `Account`.',
    examples: ['ann@example.com'],
  }),
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

/** The input of `prepareKeyRegistration`. */
export type KeyRegistrationOptionsInput = VerbInput<typeof KEY_VERBS.registrationOptions>

/** The input of `registerKey`. */
export type RegisterKeyInput = VerbInput<typeof KEY_VERBS.register>

/** The input of `prepareKeyAuthentication`. */
export type KeyAuthenticationOptionsInput = VerbInput<typeof KEY_VERBS.authenticationOptions>

/** The input of `authenticateKey`. */
export type AuthenticateKeyInput = VerbInput<typeof KEY_VERBS.authenticate>
