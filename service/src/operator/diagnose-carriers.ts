import { checkableCarriers } from '../carriers/build-carriers.js'
import type { Routes } from '../carriers/route.js'
import { asDeliveryError, type Carrier } from '../delivery/carrier.js'
import type { ReportSources } from '../reports/report-source.js'
import { withTimeLimit } from '../time-limit.js'
import type { Diagnostic } from './diagnostic.js'

const CHECK_TIMEOUT_MS = 5_000

/** Checks whether each mail server and gateway is reachable and accepts our credentials. Sends nothing. */
export function diagnoseCarriers(routes: Routes): Promise<Diagnostic[]> {
  return Promise.all(checkableCarriers(routes).map(diagnoseCarrier))
}

async function diagnoseCarrier(carrier: Carrier): Promise<Diagnostic> {
  const subject = 'carriers'
  try {
    await withTimeLimit(CHECK_TIMEOUT_MS, [], async (signal) => await carrier.check?.(signal))
    const message = `${carrier.name} is reachable and accepts the credentials.`
    return { severity: 'ok', subject, message }
  } catch (thrown) {
    const { message, fault } = asDeliveryError(thrown)
    const remedy =
      fault === 'outage'
        ? 'It is down, or its address is wrong.'
        : 'Check its address, user and password in SERVICE_DELIVERY.'
    return { severity: 'error', subject, message: `${carrier.name}: ${message} ${remedy}` }
  } finally {
    await carrier.close()
  }
}

/** Says which carriers report whether their messages arrived. */
export function diagnoseReports(sources: ReportSources): Diagnostic {
  const providers = Object.keys(sources)
  const message =
    providers.length > 0
      ? `Delivery reports are accepted from ${providers.join(', ')}.`
      : 'No carrier reports what became of a message: sent only means that a carrier accepted it.'
  return { severity: 'ok', subject: 'carriers', message }
}
