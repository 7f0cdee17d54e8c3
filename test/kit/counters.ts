import type { CounterStore } from '../../src/stores/store.js'

/** The value that `ownStore` keeps by key: a text, and when it ends, in milliseconds since 1970. */
export type KeptCounters = Map<string, { readonly text: string; readonly endsAt: number }>

/** A minimal store of a host for counters, in memory. */
export function ownStore(kept: KeptCounters = new Map()): CounterStore {
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

const LIMITS = /^(?:sends-|wait |round |failed |binding |lock|wrong-)/

/** As `ownStore`, for tests without limits: `forgive` forgets wrong codes and messages, and keeps which transactions were used. */
export function forgivingStore() {
  const kept = new Map<string, string>()
  const store: CounterStore = {
    read: async (key) => kept.get(key),
    async replace(key, before, after) {
      if (kept.get(key) !== before) return false
      kept.set(key, after)
      return true
    },
  }
  const forgive = () => {
    for (const [key, text] of kept) {
      // Of the check when the app starts.
      if (!text.startsWith('{')) continue
      const counters = Object.entries(JSON.parse(text))
      // The attempts of a login whose code was accepted stay used up.
      const isOver = counters.some(([name]) => name === 'claim')
      const left = counters.filter(
        ([name]) => !LIMITS.test(name) && (isOver || !name.startsWith('attempts ')),
      )
      kept.set(key, JSON.stringify(Object.fromEntries(left)))
    }
  }
  return { store, forgive, clear: () => kept.clear() }
}
