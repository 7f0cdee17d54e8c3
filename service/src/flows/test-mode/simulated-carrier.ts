import type { AnswerOf, Contact, Refused } from 'countersign/protocol'
import type { Application } from '../../accounts/application.js'
import type { Inbox } from '../../messages/carriers/inbox.js'
import { type Carrier, DeliveryError } from '../../messages/delivery/carrier.js'
import { contactRefused, factorDisabled, refuseLimited, refuseLocked } from '../refusals.js'

/** The carrier for messages of test keys: it keeps them in the inbox, and fails for recipients with a simulated outcome. */
export function simulatedCarrier(inbox: Inbox): Carrier {
  return {
    name: 'simulated',
    async deliver(message, signal) {
      const outcome = findSimulatedOutcome(message.to)
      if (outcome === 'fail') throw new DeliveryError('Delivery to this recipient always fails.', 'carrier')
      if (outcome === 'queued')
        throw new DeliveryError('This recipient is always unreachable for now.', 'outage')
      return inbox.deliver(message, signal)
    },
  }
}

/** An outcome that a test key can request by the contact that it names. */
export type SimulatedOutcome = 'refused' | 'fail' | 'limit' | 'locked' | 'disabled' | 'queued' | 'expired'

const EMAIL = /^(refused|fail|limit|locked|disabled|queued|expired)@test\.invalid$/i
const PHONES: Readonly<Record<string, SimulatedOutcome>> = {
  '+15005550001': 'refused',
  '+15005550002': 'fail',
  '+15005550003': 'limit',
  '+15005550004': 'locked',
  '+15005550005': 'disabled',
  '+15005550007': 'queued',
  '+15005550008': 'expired',
}

/** The code that is valid for every active challenge and every authenticator app of a test key. */
const ALWAYS_VALID_CODE = '424242'

const RETRY_AFTER_SECONDS = 600

/** The simulated outcome of a mailbox or phone number; `undefined` for all ordinary ones. */
export function findSimulatedOutcome(address: string): SimulatedOutcome | undefined {
  const mailbox = EMAIL.exec(address)?.[1]?.toLowerCase() as SimulatedOutcome | undefined
  return mailbox ?? PHONES[address]
}

/** Whether a test key simulates an outcome for this mailbox or phone number. */
export function isSimulated(application: Application, address: string): boolean {
  return application.mode === 'test' && findSimulatedOutcome(address) !== undefined
}

/** The simulated outcome of a contact. The mailbox decides before the phone number. */
function simulateOutcome(contact: Contact): SimulatedOutcome | undefined {
  return (
    (contact.kind === 'phone' ? undefined : findSimulatedOutcome(contact.email)) ??
    (contact.kind === 'email' ? undefined : findSimulatedOutcome(contact.phone))
  )
}

/** The refusal that a test key requested by the contact; `undefined` for live keys and ordinary contacts. */
export function simulateRefusal(application: Application, contact: Contact): Refused | undefined {
  if (application.mode !== 'test') return undefined
  const outcome = simulateOutcome(contact)
  if (outcome === 'refused') return contactRefused()
  if (outcome === 'limit') return refuseLimited(RETRY_AFTER_SECONDS)
  if (outcome === 'locked') return refuseLocked(RETRY_AFTER_SECONDS)
  return outcome === 'disabled' ? factorDisabled : undefined
}

/** The same for a verification: a limit of messages does not affect it, and an expired code is never valid. */
export function simulateVerdict(application: Application, contact: Contact): AnswerOf<'verify'> | undefined {
  if (application.mode !== 'test') return undefined
  const outcome = simulateOutcome(contact)
  if (outcome === 'expired') return { outcome: 'invalid' }
  return outcome === 'locked' || outcome === 'disabled' ? simulateRefusal(application, contact) : undefined
}

/** Whether a test key sent the code that is always valid. */
export function isAlwaysValid(application: Application, code: string): boolean {
  return application.mode === 'test' && code === ALWAYS_VALID_CODE
}
