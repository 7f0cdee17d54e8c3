import * as z from 'zod'
import { MAX_CODE_LENGTH } from './code.js'
import { BACKUP_TYPES, CODE_KINDS, SEND_TYPES, VERIFY_TYPES } from './methods.js'
import type { TranscriptionRefusal } from './service.js'

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
  Account: text(128)
    .optional()
    .meta({
      description:
        'Your own name for the account. Its contacts then share one budget of messages and wrong codes. Without it every contact is an account of its own.',
      examples: ['user-1042'],
    }),
  ClientAddress: z
    .union([z.ipv4(), z.ipv6()], { error: 'must be an IP address' })
    .optional()
    .meta({
      description: 'IP address of the person, for one more budget of messages.',
      examples: ['192.0.2.7', '2001:db8::7'],
    }),
  Locale: text(35)
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, { error: 'must be a language tag like en or pt-BR' })
    .optional()
    .meta({ description: 'Language of the message, a BCP 47 tag.', examples: ['en', 'pt-BR'] }),
}

const user = text(320).meta({
  description: 'A mailbox, a telephone number in E.164 form, or for DUAL both: `<EMAIL>:<PHONE_E164>`.',
  examples: ['ann@example.com', '+447700900123', 'ann@example.com:+447700900123'],
})

const challenge = (description: string) =>
  text(128)
    .optional()
    .meta({ description, examples: ['3p_W79o5l64pvICP53C_rw'] })

const transaction = text(128)
  .optional()
  .meta({
    description:
      'Your own name for what the code is for, such as one half-login: a code then counts in its own transaction alone.',
    examples: ['login-7f3a'],
  })

/** The body of `POST /v1/mfa`, which requests a code. */
export const sendBody = z.object({
  User: user,
  Type: oneOf(SEND_TYPES).meta({ description: 'How the code is sent.' }),
  Challenge: challenge('Sends the code of this challenge again instead of a new one.'),
  Transaction: transaction,
  Purpose: z.preprocess(
    // As clients of release 0.1 spell it.
    (purpose) => (purpose === 'enrolment' ? 'enrollment' : purpose),
    oneOf(['sign-in', 'step-up', 'enrollment']).optional().meta({
      description:
        'What the message says the code is for. `enrollment` binds a disabled contact again: ask for it only after another second factor was shown. Defaults to `sign-in`.',
    }),
  ),
  ...caller,
})

/** The body of `POST /v1/mfa/verify`, which verifies a code. */
export const verifyBody = z.object({
  User: user,
  Type: oneOf(VERIFY_TYPES).meta({
    description:
      'Where the code came from: PHONE for everything that goes to a telephone, APP for an authenticator app.',
  }),
  Code: text(MAX_CODE_LENGTH).meta({
    description: 'What the person typed; spaces and dashes do not matter.',
    examples: ['123456'],
  }),
  Challenge: challenge('The code counts only if it was sent in this challenge.'),
  Transaction: transaction,
  Kind: oneOf(CODE_KINDS).optional().meta({
    description:
      'What the code is meant as: a code that was sent or that an app made, a backup code, or the first code of an app that is being set up. Without it all of them are looked for.',
  }),
  ...caller,
})

/** The body of `POST /v1/mfa/app`, which prepares an authenticator app. */
export const enrollAppBody = z.object({ User: user, ...caller })

/** The body of `POST /v1/mfa/backup`, which requests backup codes. */
export const backupBody = z.object({
  User: user,
  Type: oneOf(BACKUP_TYPES).meta({ description: 'How the codes are sent.' }),
  ...caller,
})

/** The body of `POST /v1/transcribe` for a file at an address. An upload is multipart, and its part is named `file` too. */
export const transcribeBody = z.object({
  file: text(2_048).meta({
    description: 'Address of the recording: https, public, and answering with the file itself.',
    examples: ['https://media.example/call.mp3'],
  }),
})

const seconds = z.number().int().nonnegative()
const deliveryStatus = z
  .enum(['sent', 'queued'])
  .meta({ description: '`queued`: it has not left yet and is being tried again.' })

/** The response to `POST /v1/mfa` with status 200, as the self-hosted service sends it. */
export const sendAnswer = z.object({
  status: deliveryStatus,
  challenge: z
    .string()
    .min(1)
    .max(128)
    .meta({
      description: 'Names this code. Give it back to verify, or to send the same code again.',
      examples: ['3p_W79o5l64pvICP53C_rw'],
    }),
  type: z.enum(SEND_TYPES),
  expires_in: seconds.meta({ description: 'Seconds that the code lives.', examples: [300] }),
  resend_in: seconds.meta({ description: 'Seconds until it may be sent again.', examples: [30] }),
})

/** The response to `POST /v1/mfa/verify` with status 200, as the self-hosted service sends it. */
export const verifyAnswer = z.object({
  valid: z.literal(true),
  type: z.enum(VERIFY_TYPES),
  backup_codes_left: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'After a backup code: how many of them are left.', examples: [9] }),
})

/** The response to `POST /v1/mfa/app` with status 200, as the self-hosted service sends it. `qr` is a PNG in base64. */
export const enrollAppAnswer = z.object({
  qr: z
    .base64()
    .min(1)
    .meta({ description: 'A QR code to scan, a PNG.', examples: ['iVBORw0KGgo='] }),
  otpauth_uri: z
    .string()
    .startsWith('otpauth://totp/')
    .meta({
      description: 'What the QR code says.',
      examples: ['otpauth://totp/Vault:ann%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Vault'],
    }),
  secret: z
    .string()
    .regex(/^[A-Z2-7]+$/)
    .meta({ description: 'For typing, where nothing can be scanned.', examples: ['JBSWY3DPEHPK3PXP'] }),
})

/** The response to `POST /v1/mfa/backup` with status 200, as the self-hosted service sends it. */
export const backupAnswer = z.object({
  status: deliveryStatus,
  count: z
    .number()
    .int()
    .positive()
    .meta({ description: 'How many codes the person got.', examples: [10] }),
})

/** The response to `GET /v1/mfa/deliveries/{challenge}` with status 200. `to` is masked; `updated_at` is ISO 8601 in UTC. */
export const deliveryAnswer = z.object({
  status: z.enum(['queued', 'sent', 'refused', 'expired']).meta({
    description:
      '`refused`: a carrier said never, so offer another way. `expired`: nobody took it in its time. Of the two messages of DUAL the worse.',
  }),
  channel: z.enum(['email', 'sms', 'whatsapp', 'call']).meta({ description: 'How it goes.' }),
  to: z
    .string()
    .max(64)
    .meta({ description: 'Where it goes, masked.', examples: ['••• 23'] }),
  carrier: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'What carried it, or was tried last.', examples: ['twilio'] }),
  updated_at: z.iso.datetime().meta({
    description: 'When this became so.',
    examples: ['2027-03-01T12:00:00.000Z'],
  }),
})

/** The response to `POST /v1/transcribe` with status 200, as the self-hosted service sends it. */
export const transcribeAnswer = z.object({
  text: z
    .string()
    .min(1)
    .meta({ description: 'What was said.', examples: ['go forward ten meters'] }),
  duration: z
    .number()
    .nonnegative()
    .meta({ description: 'Length of the recording in seconds.', examples: [2.79] }),
  language: z
    .string()
    .optional()
    .meta({ description: 'The language that was heard, if the engine tells.', examples: ['en'] }),
})

/** Why a recording is refused: each is a `reason` of `TranscriptionRefusal` and the `code` of a problem. */
export const TRANSCRIPTION_REFUSALS = [
  'transcription_unavailable',
  'busy',
  'address_refused',
  'fetch_failed',
  'file_too_large',
  'recording_too_long',
  'unsupported_media',
  'no_speech',
] as const satisfies readonly TranscriptionRefusal['reason'][]

/** The stable `code` of each problem response of the self-hosted service. */
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
  ...TRANSCRIPTION_REFUSALS,
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

/** The stable `code` of a problem response of the self-hosted service. */
export type ServiceProblemCode = (typeof SERVICE_PROBLEMS)[number]

/** A problem response of the self-hosted service (RFC 9457). */
export const serviceProblem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: z.enum(SERVICE_PROBLEMS),
  detail: z.string().optional(),
  retry_after: seconds.optional(),
  clock_steps: z.number().int().optional().meta({
    description:
      'With `invalid_code`: an authenticator app made the code so many steps of 30 seconds ago, as a negative number, so its clock seems to be slow.',
  }),
  errors: z.array(z.object({ field: z.string(), detail: z.string() })).optional(),
})

/** A problem response of the self-hosted service (RFC 9457). */
export type ServiceProblem = z.output<typeof serviceProblem>
