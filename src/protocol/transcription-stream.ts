import * as z from 'zod'

/*
 * Realtime transcription: the WebSocket protocol `transcribe.v1` of the self-hosted service. The client sends audio as binary
 * frames, and both sides send JSON as text frames.
 */

/** The path of the WebSocket. */
export const STREAM_PATH = '/v1/transcribe/stream'

/** The path of `POST` requests for tickets. */
export const TICKETS_PATH = '/v1/transcribe/tickets'

/** The WebSocket subprotocol. */
export const STREAM_PROTOCOL = 'transcribe.v1'

/** The sample rate of the audio in hertz; it has 16 bits per sample, little-endian, and one channel. */
export const STREAM_SAMPLE_RATE = 16_000

/** How many bytes a second of the audio has. */
export const STREAM_BYTES_PER_SECOND = 2 * STREAM_SAMPLE_RATE

/** The maximum size of a frame, in bytes. */
export const MAX_FRAME_BYTES = 64 * 1024

/** The language of a stream: a BCP 47 tag. */
export const streamLanguage = z
  .string({ error: 'must be text' })
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$/, { error: 'must be a language tag such as en or pt-BR' })

/** What a client sends as text: `end` after the last audio, `keepalive` while there is none. */
export const streamRequest = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('keepalive') }),
])

/** Why a stream ends before its audio does. */
export const STREAM_ERRORS = [
  'invalid_message',
  'idle',
  'stream_too_long',
  'engine_failed',
  'engine_unavailable',
  'unavailable',
] as const

/** Why a stream ends before its audio does. */
export type StreamErrorCode = (typeof STREAM_ERRORS)[number]

const milliseconds = z.number().int().nonnegative()

/** What the service sends. */
export const streamMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), sample_rate: z.literal(STREAM_SAMPLE_RATE) }),
  z.object({ type: z.literal('partial'), text: z.string() }),
  z.object({ type: z.literal('final'), text: z.string(), start_ms: milliseconds, end_ms: milliseconds }),
  z.object({ type: z.literal('error'), code: z.enum(STREAM_ERRORS), detail: z.string() }),
])

/** What the service sends. */
export type StreamMessage = z.output<typeof streamMessage>

/** What a ticket for a stream looks like: 16 to 128 characters of base64url. */
export const STREAM_TICKET = /^[\w-]{16,128}$/

/** The response to `POST /v1/transcribe/tickets` with status 200. */
export const streamTicketAnswer = z.object({
  ticket: z
    .string()
    .regex(STREAM_TICKET)
    .meta({
      description: 'Opens one stream, as the query parameter `ticket` of its address.',
      examples: ['9sXo1kZyq3mJm8o0o5a8c1hI7wJxq2k4bJ3d0d9uV2E'],
    }),
  expires_in: z
    .number()
    .int()
    .positive()
    .meta({
      description: 'How many seconds the ticket is valid.',
      examples: [60],
    }),
})
