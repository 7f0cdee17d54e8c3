import type { ServiceRefusal } from '../protocol/service.js'
import type { Refusal } from './refusal.js'

/** The service's "no" in the words of the person. */
export function fromService(refusal: ServiceRefusal): Refusal {
  switch (refusal.reason) {
    case 'limited':
      return { code: 'too_many_messages', retryAfterSeconds: refusal.retryAfterSeconds }
    case 'locked':
      return { code: 'locked', retryAfterSeconds: refusal.retryAfterSeconds }
    default:
      return { code: refusal.reason }
  }
}
