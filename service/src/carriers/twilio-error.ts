import { CONTACT_FAULTS, type ContactFault, DeliveryError } from '../delivery/carrier.js'
import { type HttpResponse, isTemporary } from './http-request.js'

/** The error codes that are about the recipient. All others are about our account with the gateway. */
const CONTACT_ERRORS: Readonly<Record<ContactFault, readonly number[]>> = {
  unknown: [13_223, 13_224, 21_211, 21_214, 21_217, 30_005],
  unsuitable: [21_265, 21_614, 30_006, 63_003, 63_024],
  unsubscribed: [21_610, 63_033],
  complained: [],
  unreachable: [30_003, 30_004],
}

/** A gateway's error as a `DeliveryError`, without the gateway's own text, which quotes the phone number. */
export function twilioError(response: HttpResponse): DeliveryError {
  const code = errorCode(response.body)
  const details = [response.status, code].filter((part) => part !== undefined).join(', error ')
  const message = `The gateway answered ${details}.`
  const { retryAfterMs } = response
  if (isTemporary(response.status)) return new DeliveryError(message, 'outage', { retryAfterMs })
  const contact = code === undefined ? undefined : contactFaultOf(code)
  return contact ? new DeliveryError(message, 'contact', { contact }) : new DeliveryError(message, 'carrier')
}

function contactFaultOf(code: number): ContactFault | undefined {
  return CONTACT_FAULTS.find((fault) => CONTACT_ERRORS[fault].includes(code))
}

function errorCode(body: string): number | undefined {
  try {
    const read = JSON.parse(body) as { code?: unknown; error_code?: unknown } | null
    const code = Number(read?.code ?? read?.error_code ?? Number.NaN)
    return Number.isInteger(code) && code >= 0 && code < 1_000_000 ? code : undefined
  } catch {
    return undefined
  }
}
