import type { DeliveryState, MfaService } from '../protocol/service.js'
import { withTimeout } from '../stores/timeout.js'

/** Nobody waits longer for word of a message; what comes later is there the next time. */
const LONGEST_WAIT_MS = 500
/** A service that still tries has nothing new to tell before. */
const ASK_EVERY_MS = 2_000
/** Asked so often, a message is left to the user's own eyes. */
const MOST_ASKED = 30
/** Messages that are remembered; the oldest make room. */
const MOST_REMEMBERED = 10_000

/** One message, as it is asked after. */
export interface MessageName {
  /** The service's name of the challenge. */
  readonly challenge: string
  /** Tells a message from the one before in the same challenge. */
  readonly round: number
}

/** How messages stand, asked of the service with restraint, however many pages want to know. */
export interface DeliveryStates {
  /** Whether the service tells at all. */
  readonly areTold: boolean
  /** How a message stands by all that is known; nothing when nobody knows. Never fails, and never takes long. */
  of(message: MessageName): Promise<DeliveryState['status'] | undefined>
}

interface MessageState {
  status?: DeliveryState['status'] | undefined
  asked: number
  askedAt: number
  asking?: Promise<void> | undefined
}

/**
 * Asks the service how messages stand: each one every two seconds at most, and thirty times in all; no more once that
 * is settled. What was told is remembered in this process.
 */
export function deliveryStatesOf(service: Pick<MfaService, 'deliveryOf'>): DeliveryStates {
  const messages = new Map<string, MessageState>()

  const ask = (challenge: string, message: MessageState) => {
    message.asked++
    message.askedAt = Date.now()
    const status = async () => service.deliveryOf?.({ challenge })
    const word = status().then((answer) => {
      // Word that comes late is older than what may be known by now.
      if (!isSettled(message)) message.status = answer?.status ?? message.status
    })
    message.asking = withTimeout(word, LONGEST_WAIT_MS)
      // Without word the message is as it was known.
      .catch(() => {})
      .finally(() => {
        message.asking = undefined
      })
  }

  return {
    areTold: service.deliveryOf !== undefined,
    async of({ challenge, round }) {
      const message = remembered(messages, `${challenge} ${round}`)
      if (!message.asking && mayAsk(message)) ask(challenge, message)
      await message.asking
      return message.status
    },
  }
}

function remembered(messages: Map<string, MessageState>, name: string): MessageState {
  const message = messages.get(name) ?? { asked: 0, askedAt: 0 }
  messages.set(name, message)
  const [oldest] = messages.keys()
  if (messages.size > MOST_REMEMBERED && oldest !== undefined) messages.delete(oldest)
  return message
}

function isSettled({ status }: MessageState): boolean {
  return status !== undefined && status !== 'queued'
}

function mayAsk(message: MessageState): boolean {
  // A clock that was set back stops nobody from asking.
  const isTime = Math.abs(Date.now() - message.askedAt) >= ASK_EVERY_MS
  return !isSettled(message) && message.asked < MOST_ASKED && isTime
}
