import { namespaced } from '../stores/namespaced.js'
import type { ItemStore } from '../stores/store.js'

/** The moment before which nothing of a user counts: sessions, half-logins and trust that began earlier are void. */
export interface SessionsValidAfter {
  /** Whether what began then, in milliseconds since 1970, is void. */
  isVoid(userId: string, startedAt: number): Promise<boolean>
  /** From now on, everything that began until now is void. */
  set(userId: string): Promise<void>
}

/** No cookie lives longer (RFC 6265bis §5.5), so no session that began before can come back afterwards. */
const MEMORY_MS = 400 * 24 * 60 * 60_000

/** SessionsValidAfter in that store. */
export function sessionsValidAfterIn(store: ItemStore): SessionsValidAfter {
  const shelf = namespaced(store, 'cutoff')
  return {
    async isVoid(userId, startedAt) {
      const [cutoff] = await shelf.read(userId)
      return cutoff !== undefined && !(startedAt > Number(cutoff.value))
    },
    async set(userId) {
      const now = Date.now()
      await shelf.put(userId, { id: 'cutoff', value: String(now), expiresAt: now + MEMORY_MS })
    },
  }
}
