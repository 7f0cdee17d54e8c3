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
 * share of `withinMs`. A contact that no other carrier could reach either is refused at once. When no carrier accepts the
 * message, it may be retried if the fault of at least one of them was temporary, when the first of these allows it.
 */
export function fallbackCarrier(
  carriers: readonly Carrier[],
  withinMs: number,
  onFailure: (failed: FailedCarrier) => void,
): Carrier {
  const shareMs = Math.floor(withinMs / carriers.length)
  return {
    name: carriers.map((carrier) => carrier.name).join('|'),
    reports: carriers.some(({ reports }) => reports),
    async deliver(message, signal) {
      const failures: FailedCarrier[] = []
      for (const carrier of carriers) {
        try {
          const receipt = await withTimeLimit(shareMs, [signal], (share) => carrier.deliver(message, share))
          return { ...receipt, carrier: carrier.name }
        } catch (thrown) {
          const error = asDeliveryError(thrown)
          const failed = { message, carrier: carrier.name, fault: error.fault, error }
          failures.push(failed)
          onFailure(failed)
          if (isHopeless(error) || signal.aborted) break
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

function isHopeless({ fault, details }: DeliveryError): boolean {
  return fault === 'contact' && details.contact !== 'unreachable'
}

function decisiveError(failures: readonly FailedCarrier[]): DeliveryError {
  const temporary = failures.filter(({ error }) => error.isTemporary)
  const decisive =
    failures.find(({ error }) => isHopeless(error)) ??
    temporary[0] ??
    failures.find(({ fault }) => fault === 'contact') ??
    failures.at(-1)
  if (!decisive) return new DeliveryError('No carrier serves this channel.', 'carrier')
  const { error, carrier, fault } = decisive
  const waits = temporary.map(({ error }) => error.details.retryAfterMs ?? 0)
  const retryAfterMs = waits.length > 0 ? Math.min(...waits) : undefined
  return new DeliveryError(error.message, fault, { ...error.details, carrier, retryAfterMs })
}
