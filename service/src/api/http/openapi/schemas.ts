import * as z from 'zod'
import { CHANNELS } from '../../../messages/message.js'

const textOrNull = z.string().nullable()
const count = z.number().int().nonnegative()

/** 200 of `GET /v1/test/inbox`. */
export const inboxAnswer = z.object({
  messages: z.array(
    z.object({
      channel: z.enum(CHANNELS),
      to: z.string(),
      text: z.string(),
      subject: z.string().optional(),
      at: z.iso.datetime().describe('When it arrived.'),
    }),
  ),
})

/** 200 and 503 of `GET /readyz`. */
export const readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  checks: z.record(z.string(), z.string()).meta({
    description: '`ok`, or what is wrong.',
    examples: [{ store: 'ok', migrations: 'ok', process: 'ok' }],
  }),
})

const reference = z.string().meta({
  description: 'The keyed hash that stands for the account in the log and in the audit log.',
  examples: ['3f2a9c5d10e7'],
})

/** 200 of `GET /v1/users`. */
export const usersAnswer = z.object({
  users: z.array(
    z.object({
      account: textOrNull.describe('Your `Account`; `null` if the account is known by its contact.'),
      user: textOrNull.describe('The masked contact; `null` if the account has a name.'),
      reference,
      email: textOrNull.describe('The proven mailbox, masked.'),
      phone: textOrNull.describe('The proven phone number, masked.'),
      locked_until: z.iso.datetime().nullable(),
      app: z.boolean().describe('Whether a confirmed authenticator app is set up.'),
      backup_codes_left: count,
      keys: count.describe('How many security keys and passkeys it has.'),
    }),
  ),
  next: z.string().optional().describe('Pass it as `after` for the next page. Absent on the last page.'),
})

/** 200 of `POST /v1/users/erase`. */
export const eraseAnswer = z.object({
  erased: z.boolean().describe('`false` when nothing was stored about the account.'),
  reference,
})

const text = { type: 'string' as const }

/** The response headers in the document. */
export const HEADERS = {
  RequestId: {
    description:
      'Identifies the request in the log of the service: your `X-Request-Id` if it was valid, else a new id.',
    schema: text,
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer' as const, minimum: 1 },
  },
  RateLimit: {
    description:
      'What is left of each budget: `r` messages, and `t` seconds until one more is available. An IETF draft that may change.',
    schema: text,
    example: '"account";r=4;t=600, "application";r=9999;t=52000',
  },
  RateLimitPolicy: {
    description: 'The budgets: `q` messages in `w` seconds. An IETF draft that may change.',
    schema: text,
    example: '"account";q=5;w=600, "application";q=10000;w=86400',
  },
  IdempotencyReplayed: {
    description: '`true` when this is the response to an earlier request with the same key.',
    schema: { ...text, enum: ['true'] },
  },
  WwwAuthenticate: {
    description: 'Present only when the API key is invalid, never for a wrong code.',
    schema: text,
    example: 'Bearer',
  },
  Location: {
    description: 'The path of what was created.',
    schema: text,
    example: '/v1/transcribe/jobs/tj_3p_W79o5l64pvICP53C_rw',
  },
  Allow: { description: 'The methods that the address supports.', schema: text, example: 'POST' },
}

/** A reference to one of them. */
export function header(name: keyof typeof HEADERS): { readonly $ref: `#/components/headers/${string}` } {
  return { $ref: `#/components/headers/${name}` }
}
