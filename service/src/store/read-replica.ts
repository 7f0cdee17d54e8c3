import type { Store } from './store.js'

/** How long a replica that failed is not asked again. */
const PAUSE_MS = 30_000

/**
 * A store whose lists are read from a replica. While the replica does not answer, they are read from the store itself, and
 * `onFailure` learns why.
 */
export function withReplica(store: Store, replica: Store, onFailure: (error: unknown) => void): Store {
  let pausedUntil = 0
  return {
    ...store,
    lists: {
      async query(text, params) {
        if (performance.now() >= pausedUntil) {
          try {
            return await replica.query(text, params)
          } catch (error) {
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
