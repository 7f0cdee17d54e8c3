import type { ServiceSettings } from './address.js'
import { COUNTERSIGN } from './dialect.js'
import { dialectClient, type HttpService } from './dialect-client.js'
import { identifiedTransport } from './identified-transport.js'
import { httpTransport, observedTransport, type Transport } from './transport.js'

/** What the client finds out about the service. */
export interface ServiceObserver {
  /** Called at a response of the Countersign service to a client that does not use its additions. */
  onOwnService?(): void
  /** Called when the answer of a service without a configured dialect is not that of the Countersign service. */
  onUnrecognized?(): void
}

/**
 * The client of an MFA service over HTTP, in the dialect of `settings`. If they name none, the service must be the Countersign
 * service and say so before the first call.
 */
export function httpService(
  settings: ServiceSettings,
  { onOwnService, onUnrecognized }: ServiceObserver = {},
  transport: Transport = httpTransport(settings),
): HttpService {
  const { dialect, timeoutMs } = settings
  if (dialect === 'detect') {
    return dialectClient(settings, COUNTERSIGN, identifiedTransport(transport, timeoutMs, onUnrecognized))
  }
  if (dialect.extras || !onOwnService) return dialectClient(settings, dialect, transport)
  const observed = observedTransport(transport, ({ isCountersign }) => {
    if (isCountersign) onOwnService()
  })
  return dialectClient(settings, dialect, observed)
}
