import { openStore } from '../store/open.js'
import { deriveKeys } from '../store/secrets/keys.js'
import { readOptions, type ServiceOptions } from './options.js'
import type { CountersignService } from './service.js'

/**
 * Starts a service. Rejects with a `ConfigurationError` that lists everything that is wrong with the options, or says
 * why the store cannot be opened.
 */
export async function createService(options: ServiceOptions): Promise<CountersignService> {
  const settings = readOptions(options)
  const keys = deriveKeys(settings.secret, settings.previousSecrets)
  // Its error is thrown below.
  const meanwhile = () => void loadRest().catch(() => {})
  const store = await openStore({
    databaseUrl: settings.databaseUrl,
    dataDir: settings.dataDir ?? 'memory://',
    keyId: keys.id,
    previousKeyIds: keys.previous.map((key) => key.id),
    postgres: settings.postgres,
    meanwhile,
  })
  const { runService } = await loadRest()
  return runService(settings, keys, store)
}

/** Loads what runs once the store is open. It keeps the process busy, so it begins when the store was asked for what takes long. */
const loadRest = () => import('./service.js')
