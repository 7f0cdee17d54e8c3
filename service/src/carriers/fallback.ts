import { asDeliveryError, type Carrier, DeliveryError, type DeliveryFault } from '../delivery/carrier.js'
import type { QueuedMessage } from '../delivery/message.js'
import { withTimeLimit } from '../time-limit.js'

/** A carrier that did not accept a message. */
export interface FailedCarrier {
  readonly message: QueuedMessage
  readonly carrier: string
  readonly fault: DeliveryFault
  readonly error: DeliveryError
}

/**
 * Several carriers as one: when one of them is down or refuses a message, the next one is tried, each with an equal
 * share of `withinMs`. A contact that cannot be reached is refused at once. When no carrier accepts the message, it may
 * be retried if the fault of at least one of them was an outage.
 */
export function fallbackCarrier(
  carriers: readonly Carrier[],
  withinMs: number,
  onFailure: (failed: FailedCarrier) => void,
): Carrier {
  const shareMs = Math.floor(withinMs / carriers.length)
  return {
    name: carriers.map((carrier) => carrier.name).join('|'),
    async deliver(message, signal) {
      const failures: FailedCarrier[] = []
      for (const carrier of carriers) {
        try {
          const receipt = await withTimeLimit(shareMs, [signal], (share) => carrier.deliver(message, share))
          return { id: receipt.id, carrier: carrier.name }
        } catch (thrown) {
          const error = asDeliveryError(thrown)
          const failed = { message, carrier: carrier.name, fault: error.fault, error }
          failures.push(failed)
          onFailure(failed)
          if (error.fault === 'contact' || signal.aborted) break
        }
      }
      throw decisiveError(failures)
    },
    async check(signal) {
      for (const carrier of carriers) await carrier.check?.(signal)
    },
    async close() {
      await Promise.all(carriers.map((carrier) => carrier.close()))
    },
  }
}

function decisiveError(failures: readonly FailedCarrier[]): DeliveryError {
  const last = failures.at(-1)
  const decisive =
    last?.fault === 'contact' ? last : (failures.find(({ fault }) => fault === 'outage') ?? last)
  if (!decisive) return new DeliveryError('No carrier serves this channel.', 'carrier')
  return new DeliveryError(decisive.error.message, decisive.fault, decisive.carrier)
}
