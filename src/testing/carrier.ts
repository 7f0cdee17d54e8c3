import { parseUser } from '../protocol/contact.js'
import type { DetailLine } from '../protocol/details.js'
import { maskContact } from '../protocol/masked-contact.js'
import type { Granted } from '../protocol/service.js'

/** Simulates message delivery. A mode applies to all recipients, or to one (`to`), until it is changed. */
export interface TestCarrier {
  /** Holds messages back; the service reports them as queued. */
  hold(to?: string): void
  /** Delivers queued and future messages. This is the initial mode. */
  deliver(to?: string): void
  /** Refuses queued and future messages. */
  refuse(to?: string): void
}

type Mode = 'hold' | 'deliver' | 'refuse'

/** A message and its delivery status. */
interface Delivery {
  readonly message: TestMessage
  /** The challenge of the code; `undefined` for backup codes. */
  readonly challenge: string | undefined
  status: 'queued' | 'sent' | 'refused'
  updatedAt: number
}

// A message that is still queued by then is dropped, because its code has expired.
const QUEUE_LIFE_MS = 5 * 60_000

const STATUS_OF_MODE = { hold: 'queued', deliver: 'sent', refuse: 'refused' } as const

/** A carrier that delivers into the inbox, with the functions that the test service needs. */
export function testCarrier(inbox: TestInbox & { put(message: TestMessage): void }) {
  const modes = new Map<string | undefined, Mode>()
  const deliveries: Delivery[] = []

  const findMode = (to: string) => modes.get(to) ?? modes.get(undefined) ?? 'deliver'
  const update = (delivery: Delivery) => {
    delivery.status = STATUS_OF_MODE[findMode(delivery.message.to)]
    delivery.updatedAt = Date.now()
    if (delivery.status === 'sent') inbox.put(delivery.message)
  }
  const isExpired = ({ status, message }: Delivery) =>
    status === 'queued' && Date.now() - message.at >= QUEUE_LIFE_MS
  const setMode = (mode: Mode) => (to?: string) => {
    if (to === undefined) modes.clear()
    modes.set(to, mode)
    for (const delivery of deliveries)
      if (delivery.status === 'queued' && !isExpired(delivery)) update(delivery)
  }
  const carrier: TestCarrier = {
    hold: setMode('hold'),
    deliver: setMode('deliver'),
    refuse: setMode('refuse'),
  }

  return {
    carrier,
    /** Accepts a message and returns its status. */
    accept(message: TestMessage, challenge?: string): Delivery['status'] {
      const delivery: Delivery = { message, challenge, status: 'queued', updatedAt: message.at }
      update(delivery)
      deliveries.unshift(delivery)
      return delivery.status
    },
    /** The delivery state of the latest message of a challenge. */
    stateOf(challenge: string): Granted<'deliveryOf'> | undefined {
      const delivery = deliveries.find((candidate) => candidate.challenge === challenge)
      if (!delivery) return undefined
      const { message, status, updatedAt } = delivery
      const contact = parseUser(message.to)
      return {
        status: isExpired(delivery) ? 'expired' : status,
        channel: message.method === 'dual' ? 'email' : message.method,
        to: contact ? maskContact(contact) : '',
        updatedAt,
      }
    },
    reset() {
      modes.clear()
      deliveries.splice(0)
    },
  }
}

/** A message as the user would receive it. */
export interface TestMessage {
  /** An email address, a phone number, or `<email>:<phone>` for one code sent to both. */
  readonly to: string
  /** The method that delivered the message. */
  readonly method: 'email' | 'sms' | 'whatsapp' | 'call' | 'dual'
  /** The code; the first one in a message with backup codes. */
  readonly code: string
  /** All codes in the message. */
  readonly codes: readonly string[]
  /** The lines that the code approves, as the message has them. */
  readonly approves?: readonly DetailLine[]
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The messages that the service of a test kit has delivered. */
export interface TestInbox {
  /** The newest message, or the newest one to `to`. @throws if there is none; the error lists all recipients. */
  newest(to?: string): TestMessage
  /** Returns all messages, or all messages to `to`, newest first. */
  all(to?: string): readonly TestMessage[]
  /** Removes all messages. */
  clear(): void
}

/** An empty inbox, with `put` to add a message. */
export function testInbox(): TestInbox & { put(message: TestMessage): void } {
  const messages: TestMessage[] = []
  const listMessages = (to?: string) => messages.filter((message) => to === undefined || message.to === to)
  return {
    all: listMessages,
    newest(to) {
      const [newest] = listMessages(to)
      if (newest) return newest
      const others = [...new Set(messages.map((message) => message.to))].join(', ')
      throw new Error(
        `The inbox has no message${to ? ` to ${to}` : ''}.${others && ` It has messages to ${others}.`}`,
      )
    },
    clear: () => void messages.splice(0),
    put: (message) => void messages.unshift(message),
  }
}
