import * as z from 'zod'
import { CHANNELS } from '../../delivery/message.js'

/** 200 of `GET /v1/test/inbox`. */
export const inboxAnswer = z.object({
  messages: z.array(
    z.object({
      channel: z.enum(CHANNELS),
      to: z.string(),
      text: z.string(),
      subject: z.string().optional(),
      at: z.iso.datetime().meta({ description: 'When it arrived.' }),
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
