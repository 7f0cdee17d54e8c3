import { join } from 'node:path'
import {
  type CountersignService,
  createService,
  readEnvironment,
  type ServiceOptions,
} from '@countersign/service'
import type { ServiceChoice } from './config.js'

/** What Vault is to its service, which leaves to Vault's own letters whatever those tell of: they know more of it. */
export const VAULT_APPLICATION = {
  applicationName: 'Vault',
  notices: ['locked'],
} satisfies Partial<ServiceOptions>

/**
 * The MFA service inside this process: no HTTP between it and the app, and its own store beside ours. It reads the
 * SERVICE_ variables as it does when it runs alone.
 * @throws a `ConfigurationError` with everything that is wrong with them.
 */
export function embeddedService(
  { env }: Extract<ServiceChoice, { kind: 'embedded' }>,
  dataDir: string,
): Promise<CountersignService> {
  const folder = join(dataDir, 'service')
  const { options } = readEnvironment({ ...env, DATA_DIR: folder }, { dataDir: folder })
  return createService({ ...VAULT_APPLICATION, ...options })
}
