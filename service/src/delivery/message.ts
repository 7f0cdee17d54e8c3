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
  /** The request that it was written in, for the log. */
  request: z.string().optional(),
})
export type Message = Readonly<z.output<typeof messageSchema>>

/** A message on its way. */
export interface Letter extends Message {
  /** Tells it from every other message; the same each time it is tried. */
  readonly id: string
  readonly application: string
  /** From this time on, in milliseconds since 1970, it would be of no use. */
  readonly expiresAt: number
  /** Until then, in milliseconds since 1970, it belongs to whoever took it. */
  readonly heldUntil: number
  /** How often it was tried before. */
  readonly tries: number
}

/** What the log tells of a letter. */
export function aboutLetter({ application, channel, purpose, id, request }: Letter) {
  return { application, channel, purpose, message: id, ...(request !== undefined && { request }) }
}

/** What a carrier says when it has taken a letter. */
export interface Receipt {
  /** The carrier's own name for the message, if it gives one. */
  readonly id?: string | undefined
  /** Who took it, when the carrier is several in turn. */
  readonly carrier?: string | undefined
}

/** A road out of the service, for one or several channels. */
export interface Carrier {
  readonly name: string
  /** Hands the letter over, or throws: a `DeliveryError` when it can tell why. Ends when the signal does. */
  deliver(letter: Letter, signal: AbortSignal): Promise<Receipt>
  /** Finds out, without sending anything, whether the carrier can be reached and knows us. Throws when not. */
  check?(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/**
 * Why a letter was not taken. `contact`: nobody can be reached there, and no other carrier will do better.
 * `carrier`: this carrier will never take it (our login, its template, a country it does not serve), another may.
 * `outage`: overload, silence, no connection; the same carrier may take it later.
 */
export const DELIVERY_FAULTS = ['contact', 'carrier', 'outage'] as const
export type DeliveryFault = (typeof DELIVERY_FAULTS)[number]

/** A letter could not be handed over. The message holds no code, contact or secret, and there is no `cause` that might. */
export class DeliveryError extends Error {
  readonly fault: DeliveryFault
  /** Who refused it, when the carrier is several in turn. */
  readonly carrier: string | undefined

  constructor(message: string, fault: DeliveryFault, carrier?: string) {
    super(message)
    this.name = 'DeliveryError'
    this.fault = fault
    this.carrier = carrier
  }
}

/** What a carrier threw, as a `DeliveryError`: whatever it did not foresee may pass. */
export function asDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error
  const name = error instanceof Error ? error.name : 'unknown error'
  return new DeliveryError(`The carrier failed (${name}).`, 'outage')
}

const CONTROL = /\p{Cc}/u

/** Refuses whatever is more or less than one plain recipient (R88). */
export function checkRecipient(letter: Letter): void {
  const shape =
    letter.channel === 'email' ? /^[^\s,;:<>"()[\]\\@]+@[^\s,;:<>"()[\]\\@]+$/ : /^\+[1-9]\d{6,14}$/
  if (!shape.test(letter.to) || CONTROL.test(letter.to) || CONTROL.test(letter.subject)) {
    throw new DeliveryError('The recipient or subject is not one that may be sent to.', 'contact')
  }
}
