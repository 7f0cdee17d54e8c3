import { readOptions, type ServiceOptions } from './options.js'
import { keysFrom } from './secrets/keys.js'
import type { CountersignService } from './service.js'
import { openStore } from './store/open.js'

/**
 * Starts a service. Rejects with a `ConfigurationError` that lists everything that is wrong with the options, or says
 * why the store cannot be opened.
 */
export async function createService(options: ServiceOptions): Promise<CountersignService> {
  const settings = readOptions(options)
  const keys = keysFrom(settings.secret, settings.previousSecrets)
  const opened = openStore({
    databaseUrl: settings.databaseUrl,
    dataDir: settings.dataDir ?? 'memory://',
    keyId: keys.id,
    shard: settings.shard,
    previousKeyIds: keys.previous.map((key) => key.id),
    postgres: settings.postgres,
  })
  // The rest is loaded while a new database makes its tables.
  const [store, { runService }] = await Promise.all([opened, import('./service.js')])
  return runService(settings, keys, store)
}
