import type { Inbox } from '../carriers/inbox.js'
import { type Carrier, DeliveryError } from '../delivery/carrier.js'
import { simulatedOutcomeFor } from './simulated-outcomes.js'

/** The carrier for messages of test keys: it keeps them in the inbox, and fails for recipients with a simulated outcome. */
export function simulatedCarrier(inbox: Inbox): Carrier {
  return {
    name: 'simulated',
    async deliver(message, signal) {
      const outcome = simulatedOutcomeFor(message.to)
      if (outcome === 'fail') throw new DeliveryError('Delivery to this recipient always fails.', 'carrier')
      if (outcome === 'queued')
        throw new DeliveryError('This recipient is always unreachable for now.', 'outage')
      return inbox.deliver(message, signal)
    },
    async close() {},
  }
}
