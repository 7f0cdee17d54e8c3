import type { MfaService } from '../protocol/service.js'
import type { ServiceSettings } from './address.js'
import { detectingClient } from './detecting-client.js'
import { dialectClient } from './dialect-client.js'
import { httpTransport, observedTransport, type Transport } from './transport.js'

/**
 * The client of an MFA service over HTTP, in the dialect of `settings` or, if they name none, in the one that the service
 * speaks. `onOwnService` is called at a response of the Countersign service to a client that does not use its additions.
 */
export function httpService(
  settings: ServiceSettings,
  onOwnService?: () => void,
  transport: Transport = httpTransport(settings),
): MfaService & { close(): Promise<void> } {
  const { dialect } = settings
  if (dialect === 'detect') return detectingClient(settings, transport)
  if (dialect.extras || !onOwnService) return dialectClient(settings, dialect, transport)
  const observed = observedTransport(transport, ({ isCountersign }) => {
    if (isCountersign) onOwnService()
  })
  return dialectClient(settings, dialect, observed)
}
