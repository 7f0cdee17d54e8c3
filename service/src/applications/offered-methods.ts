import type { DeliveredMethod, Refused, VerifyType } from 'countersign/protocol'
import type { Application } from '../application.js'

const METHODS_OF: Readonly<Record<VerifyType, readonly DeliveredMethod[]>> = {
  EMAIL: ['email'],
  PHONE: ['sms', 'whatsapp', 'call'],
  DUAL: ['dual'],
  APP: [],
}

/** The refusal of a method that the application does not offer; `undefined` when it does. */
export function refuseMethod(application: Application, method: DeliveredMethod): Refused | undefined {
  if (method === 'dual' && application.tier !== 'enterprise') {
    return off('DUAL requires the enterprise tier; this application has the standard tier.')
  }
  if (application.methods.includes(method)) return undefined
  return off(`${method.toUpperCase()} is switched off for this application.`)
}

/** The refusal of codes of a `Type` when the application offers none of the methods that deliver them. */
export function refuseType(application: Application, type: VerifyType): Refused | undefined {
  const refusals = METHODS_OF[type].map((method) => refuseMethod(application, method))
  return refusals.every((refusal) => refusal !== undefined) ? refusals[0] : undefined
}

function off(detail: string): Refused {
  return { outcome: 'refused', refusal: { reason: 'method_off', detail } }
}
