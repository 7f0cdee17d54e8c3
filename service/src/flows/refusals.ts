import type { Refused } from 'countersign/protocol'
import { countLockedSeconds } from '../accounts/account.js'
import type { AttemptResult } from '../accounts/attempt.js'
import type { ContactFault } from '../messages/delivery/carrier.js'

/** No carrier is configured for the method. */
export const methodOff = refuse({
  reason: 'method_off',
  detail: 'This service is not configured to deliver by this method.',
})

/** The contact cannot be reached by this method; `detail` says why, without the contact. */
export function contactRefused(detail?: string): Refused {
  return refuse({ reason: 'contact_refused', ...(detail !== undefined && { detail }) })
}

/** The account has as many keys as the application allows. */
export const tooManyKeys = refuse({
  reason: 'method_off',
  detail: 'This account has the maximum number of keys: remove one first.',
})

/** The refusal of a factor that support disabled. */
export const factorDisabled = refuse({ reason: 'factor_disabled' })

function refuse(refusal: Refused['refusal']): Refused {
  return { outcome: 'refused', refusal }
}

/** Why a contact cannot be reached, in words for users and developers. */
const CONTACT_DETAILS: Readonly<Record<ContactFault, string>> = {
  unknown: 'This phone number or mailbox does not exist.',
  unsuitable: 'This phone number cannot receive this kind of message.',
  unsubscribed: 'The owner of this phone number does not want to receive these messages.',
  complained:
    'The owner of this mailbox reported an earlier email as spam, so it gets no more. An operator of the service can lift this.',
  unreachable: 'This phone number or mailbox cannot be reached.',
}

/** A message was refused for good: because of its contact, or else by the carrier. */
export function refuseUndelivered(contact: ContactFault | undefined): Refused {
  return contact === undefined
    ? refuse({ reason: 'delivery_failed' })
    : contactRefused(CONTACT_DETAILS[contact])
}

/** The phone check of the operator refuses codes for the number; `risk` is the word with which it does. */
export function phoneAtRisk(risk: string): Refused {
  return refuse({ reason: 'phone_at_risk', detail: `The phone check answered ${risk}.` })
}

/** Refuses a request because there were too many. */
export function refuseLimited(retryAfterSeconds: number): Refused {
  return refuse({ reason: 'limited', retryAfterSeconds })
}

/** Refuses a request because the account is locked. */
export function refuseLocked(retryAfterSeconds: number): Refused {
  return refuse({ reason: 'locked', retryAfterSeconds })
}

/** The verdict on an attempt that is refused because its account is locked or its factor disabled; `undefined` for others. */
export function refuseAttempt(result: AttemptResult | undefined, now: number) {
  if (result?.locked) {
    const event = { level: 'info', event: 'verify.refused', reason: 'locked' } as const
    return { answer: refuseLocked(countLockedSeconds(result, now)), events: [event] }
  }
  if (!result?.disabled || result.ok !== null) return undefined
  const event = { level: 'warn', event: 'verify.refused', reason: 'factor_disabled' } as const
  return { answer: factorDisabled, events: [event] }
}
