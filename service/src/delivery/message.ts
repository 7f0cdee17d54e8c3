import * as z from 'zod'

/** The roads by which a message reaches a person. */
export const CHANNELS = ['email', 'sms', 'whatsapp', 'call'] as const
export type Channel = (typeof CHANNELS)[number]

/** A message ready to leave. `call`: `text` is what a voice says. */
export const messageSchema = z.object({
  channel: z.enum(CHANNELS),
  /** One mailbox or one telephone number. */
  to: z.string(),
  purpose: z.enum(['sign-in', 'step-up', 'enrolment', 'backup', 'notice']),
  locale: z.string(),
  subject: z.string(),
  text: z.string(),
  /** The same as `text` for mail programs that show HTML. */
  html: z.string(),
  code: z.string().optional(),
  codes: z.array(z.string()).optional(),
})
export type Message = Readonly<z.output<typeof messageSchema>>

/** A message with the name under which it can be told from its own repetition. */
export interface Letter extends Message {
  readonly id: string
  readonly application: string
}

/** A road out of the service, for one or several channels. */
export interface Carrier {
  readonly name: string
  /** Hands the letter over, or throws: a `DeliveryError` when it can tell whether trying again makes sense. */
  deliver(letter: Letter, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** A letter could not be handed over. `permanent`: the same letter will never be taken. */
export class DeliveryError extends Error {
  readonly permanent: boolean

  constructor(message: string, permanent: boolean, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DeliveryError'
    this.permanent = permanent
  }
}

const CONTROL = /\p{Cc}/u

/** Refuses whatever is more or less than one plain recipient (R88). */
export function checkRecipient(letter: Letter): void {
  const shape =
    letter.channel === 'email' ? /^[^\s,;:<>"()[\]\\@]+@[^\s,;:<>"()[\]\\@]+$/ : /^\+[1-9]\d{6,14}$/
  if (!shape.test(letter.to) || CONTROL.test(letter.to) || CONTROL.test(letter.subject)) {
    throw new DeliveryError('The recipient or subject is not one that may be sent to.', true)
  }
}
