import type { CounterStore } from '../../src/stores/store.js'

/** A minimal store of a host for counters, in memory. */
export function ownStore(): CounterStore {
  const kept = new Map<string, { count: number; endsAt: number }>()
  const stored = (key: string) => {
    const { count, endsAt } = kept.get(key) ?? { count: 0, endsAt: 0 }
    return endsAt > Date.now() ? { count, msLeft: endsAt - Date.now() } : { count: 0, msLeft: 0 }
  }
  const put = (key: string, count: number, ms: number) => {
    kept.set(key, { count, endsAt: Date.now() + ms })
    return stored(key)
  }
  return {
    async add(key, by, windowMs) {
      const { count, msLeft } = stored(key)
      return put(key, count + by, msLeft || windowMs)
    },
    read: async (key) => stored(key),
    set: async (key, count, windowMs) => void put(key, count, windowMs),
    remove: async (key) => void kept.delete(key),
  }
}
