import { parseUser } from '../protocol/contact.js'
import { maskContact } from '../protocol/destination.js'
import type { DeliveryState } from '../protocol/service.js'
import type { TestInbox, TestMessage } from './inbox.js'

/**
 * What carries messages to people in a test. Each word holds for everybody, or for one mailbox or telephone number, until
 * another is said.
 */
export interface TestCarrier {
  /** Keeps messages waiting: the service says that they are queued. */
  hold(to?: string): void
  /** Delivers what waits, and whatever comes. So it is at first. */
  deliver(to?: string): void
  /** Refuses what waits, and whatever comes. */
  refuse(to?: string): void
}

type Mode = 'hold' | 'deliver' | 'refuse'

/** A message that was handed over, for whoever asks what became of it. */
interface Parcel {
  readonly message: TestMessage
  /** The code's challenge; none for backup codes. */
  readonly challenge: string | undefined
  status: 'queued' | 'sent' | 'refused'
  updatedAt: number
}

/** What is not delivered by then is never delivered: the code would have run out. */
const PATIENCE_MS = 5 * 60_000

const BECOMES = { hold: 'queued', deliver: 'sent', refuse: 'refused' } as const

/** A carrier that delivers into the inbox, and what the service asks of it. */
export function testCarrier(inbox: TestInbox & { put(message: TestMessage): void }) {
  const modes = new Map<string | undefined, Mode>()
  const parcels: Parcel[] = []

  const modeFor = (to: string) => modes.get(to) ?? modes.get(undefined) ?? 'deliver'
  const settle = (parcel: Parcel) => {
    parcel.status = BECOMES[modeFor(parcel.message.to)]
    parcel.updatedAt = Date.now()
    if (parcel.status === 'sent') inbox.put(parcel.message)
  }
  const isLate = ({ status, message }: Parcel) =>
    status === 'queued' && Date.now() - message.at >= PATIENCE_MS
  const say = (mode: Mode) => (to?: string) => {
    if (to === undefined) modes.clear()
    modes.set(to, mode)
    for (const parcel of parcels) if (parcel.status === 'queued' && !isLate(parcel)) settle(parcel)
  }
  const carrier: TestCarrier = { hold: say('hold'), deliver: say('deliver'), refuse: say('refuse') }

  return {
    carrier,
    /** Hands a message over; what becomes of it at once. */
    take(message: TestMessage, challenge?: string): Parcel['status'] {
      const parcel: Parcel = { message, challenge, status: 'queued', updatedAt: message.at }
      settle(parcel)
      parcels.unshift(parcel)
      return parcel.status
    },
    /** How the latest message of a challenge stands. */
    stateOf(challenge: string): DeliveryState | undefined {
      const parcel = parcels.find((one) => one.challenge === challenge)
      if (!parcel) return undefined
      const { message, status, updatedAt } = parcel
      const contact = parseUser(message.to)
      return {
        status: isLate(parcel) ? 'expired' : status,
        channel: message.method === 'dual' ? 'email' : message.method,
        to: contact ? maskContact(contact) : '',
        updatedAt,
      }
    },
    forget() {
      modes.clear()
      parcels.splice(0)
    },
  }
}
