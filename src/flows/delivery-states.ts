import type { Granted, MfaService } from '../protocol/service.js'
import { remember } from '../remember.js'
import { limitTime } from '../time.js'

/** How long a page waits for the service. A later answer is shown the next time. */
const MAX_WAIT_MS = 500
/** How often the service is asked about one message. */
const INTERVAL_MS = 2_000
/** How many times the service is asked about one message in all. */
const MAX_REQUESTS = 30

/** Identifies one message. */
interface MessageName {
  /** The service's id of the challenge. */
  readonly challenge: string
  /** Distinguishes the message from an earlier one of the same challenge. */
  readonly round: number
  /** Whether a carrier reports if the message arrived, so that `sent` is not the last state. */
  readonly reports?: boolean
}

/** The delivery states of messages. The service is asked rarely, however many pages need to know. */
export interface DeliveryStates {
  /** Whether the service knows delivery states (`MfaService.deliveryOf`). */
  readonly isSupported: boolean
  /** The last known delivery state of a message; `undefined` if it is unknown. Never fails, and takes at most 500 ms. */
  of(message: MessageName): Promise<Granted<'deliveryOf'>['status'] | undefined>
}

interface MessageState {
  readonly reports: boolean
  status?: Granted<'deliveryOf'>['status'] | undefined
  requests: number
  requestedAt: number
  pending?: Promise<void> | undefined
}

/** Asks for delivery states every two seconds at most, thirty times per message, and not after a final one. */
export function createDeliveryStates(service: Pick<MfaService, 'deliveryOf'>): DeliveryStates {
  const messages = new Map<string, MessageState>()

  const request = (challenge: string, message: MessageState) => {
    message.requests++
    message.requestedAt = Date.now()
    const status = async () => service.deliveryOf?.({ challenge })
    const answered = status().then((answer) => {
      // A late answer is older than a final state that arrived in the meantime.
      if (!isFinal(message)) message.status = answer?.status ?? message.status
    })
    message.pending = limitTime(answered, MAX_WAIT_MS)
      // Without an answer the last known state stays.
      .catch(() => {})
      .finally(() => {
        message.pending = undefined
      })
  }

  return {
    isSupported: service.deliveryOf !== undefined,
    async of({ challenge, round, reports = false }) {
      const name = `${challenge} ${round}`
      const earlier = messages.get(name) ?? { reports, requests: 0, requestedAt: 0 }
      const message: MessageState = remember(messages, name, earlier)
      if (!message.pending && mayRequest(message)) request(challenge, message)
      await message.pending
      return message.status
    },
  }
}

function isFinal({ status, reports }: MessageState): boolean {
  return status !== undefined && status !== 'queued' && !(status === 'sent' && reports)
}

function mayRequest(message: MessageState): boolean {
  // The absolute difference, so that a clock that was set back does not stop the requests.
  const isDue = Math.abs(Date.now() - message.requestedAt) >= INTERVAL_MS
  return !isFinal(message) && message.requests < MAX_REQUESTS && isDue
}
