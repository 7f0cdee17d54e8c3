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
  purpose: z.enum(['sign-in', 'step-up', 'enrollment', 'backup', 'notice']),
  locale: z.string(),
  subject: z.string(),
  text: z.string(),
  /** The application's name, which emails show. */
  name: z.string(),
  code: z.string().optional(),
  codes: z.array(z.string()).optional(),
  /** The request in which it was written, for the log. */
  request: z.string().optional(),
})
export type Message = Readonly<z.output<typeof messageSchema>>

/** A message in the outbox. */
export interface QueuedMessage extends Message {
  /** Identifies the message; the same for every attempt to deliver it. */
  readonly id: string
  readonly application: string
  /** The partition of the outbox that it is in. */
  readonly slot: number
  /** From this time on, in milliseconds since 1970, the message is useless. */
  readonly expiresAt: number
  /** Until this time, in milliseconds since 1970, no other process may take the message. */
  readonly leasedUntil: number
  /** How many attempts to deliver it were made before. */
  readonly attempts: number
}

/** The fields by which the log identifies a message. */
export function messageLogFields({ application, channel, purpose, id, request }: QueuedMessage) {
  return { application, channel, purpose, message: id, ...(request !== undefined && { request }) }
}
