import type { ServiceAddress } from './client/address.js'
import { httpService } from './client/service.js'
import type { MfaService } from './protocol/service.js'
import { readServiceAddress } from './settings.js'

/**
 * Speaks to an MFA service over HTTP, for scripts and for an app's own use of its verbs. `close` lets go of its
 * sockets.
 * @throws {OptionsError}
 */
export function mfaClient(service: ServiceAddress): MfaService & { close(): Promise<void> } {
  return httpService(readServiceAddress(service))
}
