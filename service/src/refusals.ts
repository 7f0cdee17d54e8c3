import type { Refused } from 'countersign/protocol'

/** No carrier is configured for the method. */
export const methodOff: Refused = {
  outcome: 'refused',
  refusal: { reason: 'method_off', detail: 'This service is not configured to deliver by this method.' },
}
/** The contact cannot be reached by this method; `detail` says why, without the contact. */
export function contactRefused(detail?: string): Refused {
  return {
    outcome: 'refused',
    refusal: { reason: 'contact_refused', ...(detail !== undefined && { detail }) },
  }
}
export const factorDisabled: Refused = { outcome: 'refused', refusal: { reason: 'factor_disabled' } }
export const deliveryFailed: Refused = { outcome: 'refused', refusal: { reason: 'delivery_failed' } }

export function limited(retryAfterSeconds: number): Refused {
  return { outcome: 'refused', refusal: { reason: 'limited', retryAfterSeconds } }
}

export function locked(retryAfterSeconds: number): Refused {
  return { outcome: 'refused', refusal: { reason: 'locked', retryAfterSeconds } }
}
