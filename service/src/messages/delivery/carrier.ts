import type { Senders } from '../../accounts/application.js'
import type { QueuedMessage } from './queued-message.js'

/** How long one attempt to deliver a message may take, all fallback carriers included; shorter than a message's lease. */
export const ATTEMPT_TIMEOUT_MS = 10_000

/** The answer of a carrier when it has accepted a message. */
export interface Receipt {
  /** The carrier's own id for the message, if it has one. */
  readonly id?: string | undefined
  /** The cost of the message, as the carrier gives it, such as `0.0333` or `0.0075 USD`. */
  readonly price?: string | undefined
  /** The name of the carrier that accepted it, when several are tried in turn. */
  readonly carrier?: string | undefined
}

/** A message as it is handed over. */
export interface OutgoingMessage extends QueuedMessage {
  /** Who it comes from, if its application says so. Defaults to the carrier's own settings. */
  readonly senders?: Senders
}

/** The settings that every carrier has. */
export interface NamedCarrier {
  /** Its name in delivery states and the log. Defaults to the kind of carrier, such as `twilio` or `smtp`. */
  readonly name?: string | undefined
}

/** Hands messages over to a mail server, a gateway or a webhook, for one or several channels. */
export interface Carrier {
  readonly name: string
  /** Whether it reports if a message arrived. Defaults to `false`. */
  readonly reports?: boolean
  /** Hands a message over. Throws, if possible a `DeliveryError`, when it is not accepted. Stops when the signal aborts. */
  deliver(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt>
  /** Checks, without sending anything, that the carrier is reachable and accepts our credentials. Throws when not. */
  check?(signal: AbortSignal): Promise<void>
  /** Closes its connections, if it keeps some. */
  close?(): Promise<void>
}

/**
 * Why a message was not accepted. `contact`: the recipient cannot be reached. `carrier`: this carrier will never accept it
 * (wrong credentials, missing template, unsupported country), another one may. `outage`: overload, timeout, no connection;
 * the same carrier may accept it later. `deferred`: the carrier works, and may accept this message later (greylisting).
 */
export type DeliveryFault = 'contact' | 'carrier' | 'outage' | 'deferred'

/**
 * Why a contact cannot be reached. `unknown`: it does not exist. `unsuitable`: it cannot receive this kind of message.
 * `unsubscribed`: its owner wants no messages. `complained`: its owner reported earlier messages as spam. `unreachable`: this
 * carrier does not reach it, another one may.
 */
export const CONTACT_FAULTS = ['unknown', 'unsuitable', 'unsubscribed', 'complained', 'unreachable'] as const
/** One of the reasons why a contact cannot be reached. */
export type ContactFault = (typeof CONTACT_FAULTS)[number]

/**
 * The faults that the operator must mend at the carrier or here, by the event that names it in the log: a certificate that is not
 * valid, encryption that the server does not offer, or a login that it refuses.
 */
export type SetupFault = 'carrier.certificate_refused' | 'carrier.starttls_missing' | 'carrier.login_refused'

/** The details of a `DeliveryError`. */
export interface DeliveryErrorDetails {
  /** Why the contact cannot be reached, with the fault `contact`. Defaults to `unreachable`. */
  readonly contact?: ContactFault | undefined
  /** The faults that the operator must mend, with the fault `carrier`, where the carrier shows it. */
  readonly setup?: SetupFault | undefined
  /** How long the carrier wants not to be asked again. */
  readonly retryAfterMs?: number | undefined
  /** Whether the carrier got the message and may have sent it, although it did not say so in a way that can be read. */
  readonly mayHaveSent?: boolean | undefined
  /** The carrier that refused the message, when several are tried in turn. */
  readonly carrier?: string | undefined
}

/** A message could not be handed over. The error contains no code, contact or secret, and has no `cause` that might. */
export class DeliveryError extends Error {
  readonly fault: DeliveryFault
  readonly details: DeliveryErrorDetails

  constructor(message: string, fault: DeliveryFault, details: DeliveryErrorDetails = {}) {
    super(message)
    this.name = 'DeliveryError'
    this.fault = fault
    this.details = fault === 'contact' ? { contact: 'unreachable', ...details } : details
  }

  /** Whether the same carrier may accept the message later. */
  get isTemporary(): boolean {
    return this.fault === 'outage' || this.fault === 'deferred'
  }
}

/** The error of a carrier as a `DeliveryError`; an unexpected one counts as an outage. */
export function ensureDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error
  const name = error instanceof Error ? error.name : 'unknown error'
  return new DeliveryError(`The carrier failed (${name}).`, 'outage')
}

const CONTROL = /\p{Cc}/u

/** Throws a `DeliveryError` unless the message has exactly one plain recipient (R88). */
export function checkRecipient(message: QueuedMessage): void {
  const pattern =
    message.channel === 'email' ? /^[^\s,;:<>"()[\]\\@]+@[^\s,;:<>"()[\]\\@]+$/ : /^\+[1-9]\d{6,14}$/
  if (!pattern.test(message.to) || CONTROL.test(message.to) || CONTROL.test(message.subject)) {
    throw new DeliveryError('The recipient or the subject is not allowed.', 'contact', { contact: 'unknown' })
  }
}
