import { postgresStore } from './postgres-store.js'
import type { PostgresLimits, Store } from './store.js'

/** How long a replica that failed is not asked again. */
const PAUSE_MS = 30_000

/** Lists are rare, so they need few connections. */
const POOL_SIZE = 2

/**
 * A store whose lists are read from the replica at `url`; the store itself without one. While the replica does not answer, they are
 * read from the store itself, and `onFailure` learns why. `limits` are those of the store. Closes the store and rejects with a
 * `ConfigurationError` if the address is one that cannot be used.
 */
export async function withReplica(
  store: Store,
  url: string | undefined,
  limits: Partial<PostgresLimits>,
  onFailure: (error: unknown) => void = () => {},
): Promise<Store> {
  if (url === undefined) return store
  let replica: Store
  try {
    replica = postgresStore(url, { ...limits, poolSize: POOL_SIZE })
  } catch (error) {
    await store.close()
    throw error
  }
  let pausedUntil = 0
  return {
    ...store,
    lists: {
      async query(text, params) {
        if (performance.now() >= pausedUntil) {
          try {
            return await replica.query(text, params)
          } catch (error) {
            // Lists that were read at the same time fail together.
            if (performance.now() < pausedUntil) return store.query(text, params)
            pausedUntil = performance.now() + PAUSE_MS
            onFailure(error)
          }
        }
        return store.query(text, params)
      },
    },
    async close() {
      await Promise.all([store.close(), replica.close()])
    },
  }
}
