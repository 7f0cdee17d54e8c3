import * as z from 'zod'

/** The channels by which a message reaches a user. */
export const CHANNELS = ['email', 'sms', 'whatsapp', 'call'] as const
/** One of the channels by which a message reaches a user. */
export type Channel = (typeof CHANNELS)[number]

/** A message that is ready to be sent. For `call`, `text` is what the voice reads out. */
export const messageSchema = z.object({
  channel: z.enum(CHANNELS),
  /** One mailbox or one phone number. */
  to: z.string(),
  purpose: z.enum(['sign-in', 'step-up', 'enrollment', 'approval', 'backup', 'notice']),
  locale: z.string(),
  subject: z.string(),
  text: z.string(),
  /** The application's name, which emails show. */
  name: z.string(),
  code: z.string().optional(),
  codes: z.array(z.string()).optional(),
  /** The request in which it was written, for the log. */
  request: z.string().optional(),
  /** The `traceparent` of the request in which it was written. */
  trace: z.string().optional(),
})
/** A message in the form in which it is stored. */
export type Message = Readonly<z.output<typeof messageSchema>>
