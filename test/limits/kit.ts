import pg from 'pg'
import { readOptions } from '../../src/options/settings.js'
import type { StoreConfig } from '../../src/stores/config.js'
import { type Limits, openLimits } from '../../src/stores/limits/limits.js'
import type { CounterStore } from '../../src/stores/store.js'
import { EMPTY_RECORD } from '../kit/host.js'
import { standInService } from '../kit/stand-in-service.js'

/** The limits of an app whose other options are the defaults. */
export function limitsIn(store: StoreConfig<CounterStore>): Limits {
  const { service } = standInService()
  return openLimits(readOptions({ service, factors: () => [], ...EMPTY_RECORD, limits: { store } }))
}

/** An attempt of the user `u`, or another one, in a login of its own. */
export function attemptOn(challenge: string, userId = 'u') {
  return { userId, challenge, transaction: `login of ${challenge}` }
}

/** A connection pool. A closing connection can still receive the error that the server shuts down. */
export function poolOf(url: string, max = 8): pg.Pool {
  return new pg.Pool({ connectionString: url, max }).on('error', () => {})
}
