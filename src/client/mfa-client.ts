import type { ServiceAddress } from '../options/service.js'
import { readServiceAddress } from '../options/settings.js'
import type { CompleteMfaService } from '../protocol/service.js'
import { addPhoneFormat } from './phone-format.js'
import { httpService } from './service.js'

/** Options of `mfaClient` beside the service. */
export interface MfaClientOptions {
  /** The country of phone numbers without a country code, such as `GB`. Defaults to none: they are errors. */
  readonly country?: string | undefined
}

/** A client of an MFA service over HTTP. */
export interface MfaClient extends CompleteMfaService {
  /** Closes the sockets. */
  close(): Promise<void>
}

/**
 * Speaks to an MFA service over HTTP, for scripts and an app's own use of its verbs. With libphonenumber-js, phone numbers may
 * be written as people write them. `close` lets go of its sockets. @throws {OptionsError}
 */
export function mfaClient(service: ServiceAddress, { country }: MfaClientOptions = {}): MfaClient {
  return addPhoneFormat(httpService(readServiceAddress(service)), country)
}
