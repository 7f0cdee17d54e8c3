import { join } from 'node:path'
import {
  type CountersignService,
  createService,
  readEnvironment,
  type ServiceOptions,
} from '@countersign/service'
import type { ServiceChoice } from './config.js'

/** The settings of Vault in its service. Vault sends most account notices itself, since it knows more about the event. */
export const VAULT_APPLICATION = {
  applicationName: 'Vault',
  notices: ['locked'],
} satisfies Partial<ServiceOptions>

/**
 * The MFA service inside this process, without HTTP and with a store of its own. It reads the `SERVICE_` variables as the
 * stand-alone service does.
 * @throws {ConfigurationError} with all faults in them.
 */
export function embeddedService(
  { env }: Extract<ServiceChoice, { kind: 'embedded' }>,
  dataDir: string,
): Promise<CountersignService> {
  const folder = join(dataDir, 'service')
  const { options } = readEnvironment({ ...env, DATA_DIR: folder }, { dataDir: folder })
  return createService({ ...VAULT_APPLICATION, ...options })
}
