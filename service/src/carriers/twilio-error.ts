import { DeliveryError, type DeliveryFault } from '../delivery/message.js'
import { type Answer, mayPass } from './http-request.js'

/**
 * Error codes that say the recipient cannot be reached: not a number, not a mobile number, unsubscribed, blocked,
 * not on WhatsApp. Whatever else is refused is between the gateway and its customer.
 */
const ABOUT_THE_CONTACT = new Set([
  13_223, 13_224, 21_211, 21_214, 21_217, 21_265, 21_610, 21_614, 30_003, 30_004, 30_005, 30_006, 63_003,
  63_024, 63_033,
])

/** A gateway's refusal in our words. Its own are not repeated: they quote the number. */
export function twilioRefusal(answer: Answer): DeliveryError {
  const code = errorCode(answer.body)
  const about = [answer.status, code].filter((part) => part !== undefined).join(', error ')
  return new DeliveryError(`The gateway answered ${about}.`, faultOf(answer.status, code))
}

function faultOf(status: number, code: number | undefined): DeliveryFault {
  if (mayPass(status)) return 'outage'
  return code !== undefined && ABOUT_THE_CONTACT.has(code) ? 'contact' : 'carrier'
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
