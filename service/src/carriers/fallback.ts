import { withinTime } from '../time-limit.js'
import { asDeliveryError, type Carrier, DeliveryError, type DeliveryFault, type Letter } from '../delivery/message.js'

/** A carrier that was asked and did not take the letter. */
export interface Miss {
  readonly letter: Letter
  readonly carrier: string
  readonly fault: DeliveryFault
  readonly error: DeliveryError
}

/**
 * Several carriers as one: when one is down or will not take a letter, the next is asked, each with an equal share
 * of `withinMs`. A contact that cannot be reached is refused at once. When nobody takes the letter, it may be
 * tried again as long as one of them was only down.
 */
export function inTurn(
  carriers: readonly Carrier[],
  withinMs: number,
  missed: (miss: Miss) => void,
): Carrier {
  const shareMs = Math.floor(withinMs / carriers.length)
  return {
    name: carriers.map((carrier) => carrier.name).join('|'),
    async deliver(letter, signal) {
      const misses: Miss[] = []
      for (const carrier of carriers) {
        try {
          const receipt = await withinTime(shareMs, [signal], (share) => carrier.deliver(letter, share))
          return { id: receipt.id, carrier: carrier.name }
        } catch (thrown) {
          const error = asDeliveryError(thrown)
          const miss = { letter, carrier: carrier.name, fault: error.fault, error }
          misses.push(miss)
          missed(miss)
          if (error.fault === 'contact' || signal.aborted) break
        }
      }
      throw worst(misses)
    },
    async check(signal) {
      for (const carrier of carriers) await carrier.check?.(signal)
    },
    async close() {
      await Promise.all(carriers.map((carrier) => carrier.close()))
    },
  }
}

function worst(misses: readonly Miss[]): DeliveryError {
  const last = misses.at(-1)
  const telling = last?.fault === 'contact' ? last : (misses.find(({ fault }) => fault === 'outage') ?? last)
  if (!telling) return new DeliveryError('No carrier serves this channel.', 'carrier')
  return new DeliveryError(telling.error.message, telling.fault, telling.carrier)
}
