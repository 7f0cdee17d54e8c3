import { DeliveryError, type DeliveryFault } from '../delivery/carrier.js'
import { type HttpResponse, isTemporary } from './http-request.js'

/**
 * Error codes that mean the recipient cannot be reached: not a number, not a mobile number, unsubscribed, blocked,
 * not on WhatsApp. All other errors are about our account with the gateway.
 */
const CONTACT_ERRORS = new Set([
  13_223, 13_224, 21_211, 21_214, 21_217, 21_265, 21_610, 21_614, 30_003, 30_004, 30_005, 30_006, 63_003,
  63_024, 63_033,
])

/** A gateway's error as a `DeliveryError`, without the gateway's own text, which quotes the phone number. */
export function twilioError(response: HttpResponse): DeliveryError {
  const code = errorCode(response.body)
  const details = [response.status, code].filter((part) => part !== undefined).join(', error ')
  return new DeliveryError(`The gateway answered ${details}.`, faultOf(response.status, code))
}

function faultOf(status: number, code: number | undefined): DeliveryFault {
  if (isTemporary(status)) return 'outage'
  return code !== undefined && CONTACT_ERRORS.has(code) ? 'contact' : 'carrier'
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
