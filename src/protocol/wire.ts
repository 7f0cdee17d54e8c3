import * as z from 'zod'
import { MAX_CODE_LENGTH } from './code.js'
import { BACKUP_TYPES, CODE_KINDS, SEND_TYPES, VERIFY_TYPES } from './methods.js'

/*
 * The HTTP API's bodies. `User`, `Type` and `Code` are the published names; `Challenge`, `Transaction`, `Kind`,
 * `Account`, `ClientAddress`, `Locale` and `Purpose` are our service's additions, all optional.
 */

const text = (max: number) =>
  z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(max, { error: `must be at most ${max} characters` })

const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` })

const caller = {
  Account: text(128).optional(),
  ClientAddress: z.union([z.ipv4(), z.ipv6()], { error: 'must be an IP address' }).optional(),
  Locale: text(35)
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, { error: 'must be a language tag like en or pt-BR' })
    .optional(),
}

/** `POST /v1/mfa` */
export const sendBody = z.object({
  User: text(320),
  Type: oneOf(SEND_TYPES),
  Challenge: text(128).optional(),
  Transaction: text(128).optional(),
  Purpose: oneOf(['sign-in', 'step-up', 'enrolment']).optional(),
  ...caller,
})

/** `POST /v1/mfa/verify` */
export const verifyBody = z.object({
  User: text(320),
  Type: oneOf(VERIFY_TYPES),
  Code: text(MAX_CODE_LENGTH),
  Challenge: text(128).optional(),
  Transaction: text(128).optional(),
  Kind: oneOf(CODE_KINDS).optional(),
  ...caller,
})

/** `POST /v1/mfa/app` */
export const enrollAppBody = z.object({ User: text(320), ...caller })

/** `POST /v1/mfa/backup` */
export const backupBody = z.object({ User: text(320), Type: oneOf(BACKUP_TYPES), ...caller })

const seconds = z.number().int().nonnegative()

/** 200 of `POST /v1/mfa`, as our service answers. */
export const sendAnswer = z.object({
  status: z.enum(['sent', 'queued']),
  challenge: z.string().min(1).max(128),
  type: z.enum(SEND_TYPES),
  expires_in: seconds,
  resend_in: seconds,
})

/** 200 of `POST /v1/mfa/verify`, as our service answers. */
export const verifyAnswer = z.object({ valid: z.literal(true), type: z.enum(VERIFY_TYPES) })

/** 200 of `POST /v1/mfa/app`, as our service answers. `qr` is a PNG in base64. */
export const enrollAppAnswer = z.object({
  qr: z.base64().min(1),
  otpauth_uri: z.string().startsWith('otpauth://totp/'),
  secret: z.string().regex(/^[A-Z2-7]+$/),
})

/** 200 of `POST /v1/mfa/backup`, as our service answers. */
export const backupAnswer = z.object({
  status: z.enum(['sent', 'queued']),
  count: z.number().int().positive(),
})

/** The stable `code` of each problem our service answers with. */
export const SERVICE_PROBLEMS = [
  'invalid_request',
  'invalid_code',
  'invalid_api_key',
  'locked',
  'limited',
  'factor_disabled',
  'method_off',
  'contact_refused',
  'delivery_failed',
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
  'body_too_large',
  'head_too_large',
  'request_timeout',
  'idempotency_key_reused',
  'idempotency_key_in_flight',
  'internal_error',
] as const
export type ServiceProblemCode = (typeof SERVICE_PROBLEMS)[number]

/** An error of our service, RFC 9457 problem+json. */
export const serviceProblem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: z.enum(SERVICE_PROBLEMS),
  detail: z.string().optional(),
  retry_after: seconds.optional(),
  errors: z.array(z.object({ field: z.string(), detail: z.string() })).optional(),
})
export type ServiceProblem = z.output<typeof serviceProblem>
