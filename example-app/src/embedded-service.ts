import { join } from 'node:path'
import {
  type CountersignService,
  createService,
  readEnvironment,
  type ServiceOptions,
} from '@countersign/service'
import type { Config, ServiceChoice } from './config.js'

/** The settings of Vault in its service. Vault sends most account notices itself, since it knows more about the event. */
export const VAULT_APPLICATION = {
  applicationName: 'Vault',
  notices: ['locked'],
} satisfies Partial<ServiceOptions>

/**
 * Passkeys and security keys belong to the host of Vault's address. Browsers accept them on https and on localhost, and for no IP
 * address.
 */
export function relyingPartyAt(publicUrl: string | undefined): Pick<ServiceOptions, 'relyingParty'> {
  if (publicUrl === undefined) return {}
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isAccepted = hostname === 'localhost' || (protocol === 'https:' && !/^[\d.]+$|:/.test(hostname))
  return isAccepted ? { relyingParty: { id: hostname, name: 'Vault', origins: [origin] } } : {}
}

/**
 * The MFA service inside this process, without HTTP and with a store of its own. It reads the `SERVICE_` variables as the
 * stand-alone service does.
 * @throws {ConfigurationError} with all faults in them.
 */
export function embeddedService(
  { env }: Extract<ServiceChoice, { kind: 'embedded' }>,
  { dataDir, publicUrl }: Pick<Config, 'dataDir' | 'publicUrl'>,
): Promise<CountersignService> {
  const folder = join(dataDir, 'service')
  const { options } = readEnvironment({ ...env, DATA_DIR: folder }, { dataDir: folder })
  return createService({ ...VAULT_APPLICATION, ...relyingPartyAt(publicUrl), ...options })
}
