import { askableCarriers } from '../carriers/build-carriers.js'
import { asDeliveryError, type Carrier } from '../delivery/message.js'
import type { Routes } from '../carriers/delivery-option.js'
import { withinTime } from '../time-limit.js'
import type { Finding } from './diagnose-store.js'

const ANSWER_WITHIN_MS = 5_000

/** Asks each carrier that can be asked whether it can be reached and knows us. Nothing is sent. */
export function examineCarriers(routes: Routes): Promise<Finding[]> {
  return Promise.all(askableCarriers(routes).map(examineCarrier))
}

async function examineCarrier(carrier: Carrier): Promise<Finding> {
  const about = 'carriers'
  try {
    await withinTime(ANSWER_WITHIN_MS, [], async (signal) => await carrier.check?.(signal))
    return { state: 'well', about, finding: `${carrier.name} can be reached and knows us.` }
  } catch (thrown) {
    const { message, fault } = asDeliveryError(thrown)
    const remedy =
      fault === 'outage'
        ? 'It is down, or its address is wrong.'
        : 'See its address, user and password in SERVICE_DELIVERY.'
    return { state: 'wrong', about, finding: `${carrier.name}: ${message} ${remedy}` }
  } finally {
    await carrier.close()
  }
}
