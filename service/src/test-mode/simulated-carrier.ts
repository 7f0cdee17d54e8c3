import type { Inbox } from '../carriers/inbox.js'
import { type Carrier, DeliveryError } from '../delivery/message.js'
import { stagedFor } from './simulated-outcomes.js'

/** Where the messages of test keys go: to the inbox, or nowhere when the recipient is one of those that fail. */
export function rehearsalCarrier(inbox: Inbox): Carrier {
  return {
    name: 'rehearsal',
    async deliver(letter, signal) {
      const staged = stagedFor(letter.to)
      if (staged === 'fail') throw new DeliveryError('This recipient always fails.', 'contact')
      if (staged === 'queued') throw new DeliveryError('This recipient is never reached.', 'outage')
      return inbox.deliver(letter, signal)
    },
    async close() {},
  }
}
