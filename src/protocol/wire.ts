import * as z from 'zod'
import { keyFault } from './keys-wire.js'
import type { CodeShapes } from './methods.js'
import { count } from './wire-parts.js'

/** The path at which the Countersign service identifies itself, without an API key. */
export const SERVICE_IDENTITY = '/v1/service'

/** The header in every response of the Countersign service, in lower case: the version of its API. */
export const SERVICE_HEADER = 'countersign-api'

/** The response to `GET /v1/service` with status 200. `api` changes when a client of the version before would misunderstand it. */
export const serviceIdentity = z.object({
  service: z.literal('countersign').meta({ description: 'Which service this is.' }),
  api: z.literal(1).meta({ description: 'The version of its API.' }),
})

/** The permissions of an API key: verify codes and keys, change factors, read them, list and erase users, transcribe. */
export const SCOPES = ['verify', 'enroll', 'read', 'personal-data', 'transcribe'] as const

/** A scope of API keys. */
export type Scope = (typeof SCOPES)[number]

/** The path that describes the API key of the request; it needs no scope. */
export const API_KEY_INFO = '/v1/key'

/** The response to `GET /v1/key` with status 200. */
export const apiKeyInfo = z.object({
  application: z.string().meta({ description: 'The application that the key belongs to.' }),
  mode: z.enum(['live', 'test']).meta({ description: 'Test keys have their own data and deliver nothing.' }),
  // A later release may have more scopes.
  scopes: z
    .array(z.string().max(64))
    .max(100)
    .meta({
      description: `What the key may do, of ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`,
    }),
  expires_at: z.iso
    .datetime()
    .optional()
    .meta({ description: 'When the key expires; absent if it does not.' }),
})

/** Why the service refuses a recording. */
export const TRANSCRIPTION_PROBLEMS = [
  'transcription_unavailable',
  'busy',
  'address_refused',
  'fetch_failed',
  'file_too_large',
  'recording_too_long',
  'unsupported_media',
  'recording_damaged',
  'language_unavailable',
  'timestamps_unavailable',
] as const

/** The stable `code` of each problem response of the self-hosted service. */
export const SERVICE_PROBLEMS = [
  'invalid_request',
  'invalid_code',
  'invalid_key',
  'invalid_api_key',
  'missing_scope',
  'locked',
  'limited',
  'factor_disabled',
  'method_off',
  'contact_refused',
  'phone_at_risk',
  'delivery_failed',
  ...TRANSCRIPTION_PROBLEMS,
  'engine_failed',
  'engine_unavailable',
  'invalid_ticket',
  'too_many_streams',
  'too_many_jobs',
  'upgrade_required',
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
  'body_too_large',
  'head_too_large',
  'request_timeout',
  'invalid_signature',
  'idempotency_key_reused',
  'idempotency_key_in_flight',
  'account_busy',
  'internal_error',
  'unavailable',
] as const

/** The stable `code` of a problem response of the self-hosted service. */
export type ServiceProblemCode = (typeof SERVICE_PROBLEMS)[number]

/** A problem response of the self-hosted service (RFC 9457). */
export const serviceProblem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: z.enum(SERVICE_PROBLEMS),
  detail: z.string().optional(),
  retry_after: count.optional(),
  clock_steps: z.number().int().optional().meta({
    description:
      'With `invalid_code`, for an authenticator app with a slow clock: how many 30-second steps ago the code was valid, as a negative number.',
  }),
  fault: keyFault
    .optional()
    .meta({ description: 'With `invalid_key`: why the response of the authenticator was refused.' }),
  scope: z
    .enum(SCOPES)
    .optional()
    .meta({ description: 'With `missing_scope`: the scope that the API key lacks.' }),
  errors: z.array(z.object({ field: z.string(), detail: z.string() })).optional(),
})

/** A problem response of the self-hosted service (RFC 9457). */
export type ServiceProblem = z.output<typeof serviceProblem>

const DIGITS = '0123456789'

/** The codes of the Countersign service, whatever its limits are set to: its ranges are taken from here. */
export const COUNTERSIGN_CODES = {
  delivered: { alphabet: DIGITS, shortest: 6, longest: 10 },
  // New apps have six digits, imported ones six or eight.
  app: { alphabet: DIGITS, shortest: 6, longest: 8 },
  // Imported codes can have any letter and be shorter or longer than new ones.
  backup: { alphabet: `${DIGITS}ABCDEFGHIJKLMNOPQRSTUVWXYZ`, shortest: 8, longest: 64 },
} as const satisfies CodeShapes
