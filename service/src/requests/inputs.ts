import {
  type Members,
  type Method,
  membersOf,
  type rows,
  type TranscriptFormat,
  transcriptionWire,
  type VERBS,
} from 'countersign/protocol'
import type * as z from 'zod'
import { type Parsed, parse } from './parse.js'
import { anyMethodFor, type RequestUser, withUser } from './request-user.js'

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
