import type { CounterStore } from '../../src/stores/store.js'

/** A minimal store of a host for counters, in memory. */
export function ownStore(): CounterStore {
  const kept = new Map<string, { text: string; endsAt: number }>()
  const read = (key: string) => {
    const one = kept.get(key)
    return one && one.endsAt > Date.now() ? one.text : undefined
  }
  return {
    read: async (key) => read(key),
    async replace(key, before, after, lifeMs) {
      if (read(key) !== before) return false
      kept.set(key, { text: after, endsAt: Date.now() + lifeMs })
      return true
    },
  }
}
