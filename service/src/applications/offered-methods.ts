import type { DeliveredMethod, Refused, VerifyType } from 'countersign/protocol'
import type { Application } from '../application.js'

const MEANT: Readonly<Record<VerifyType, readonly DeliveredMethod[]>> = {
  EMAIL: ['email'],
  PHONE: ['sms', 'whatsapp', 'call'],
  DUAL: ['dual'],
  APP: [],
}

/** Why the application does not offer a method; nothing when it does. */
export function notOffered(application: Application, method: DeliveredMethod): Refused | undefined {
  if (method === 'dual' && application.tier !== 'enterprise') {
    return off('DUAL belongs to the enterprise tier; this application has the standard tier.')
  }
  if (application.methods.includes(method)) return undefined
  return off(`${method.toUpperCase()} is switched off for this application.`)
}

/** Why the application takes no codes of a `Type`: none of the methods by which they come is offered. */
export function notTaken(application: Application, type: VerifyType): Refused | undefined {
  const reasons = MEANT[type].map((method) => notOffered(application, method))
  return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined
}

function off(detail: string): Refused {
  return { outcome: 'refused', refusal: { reason: 'method_off', detail } }
}
