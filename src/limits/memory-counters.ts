import type { StoredCount } from '../stores/counter-store.js'

interface Entry {
  count: number
  endsAt: number
}

const NOTHING: StoredCount = { count: 0, msLeft: 0 }

/** With fewer keys than this, expired ones stay: they take less memory than looking for them takes time. */
const SWEEP_FROM = 1_000

/** A counter in the memory of this process. Expired keys are deleted whenever the number of keys has doubled. */
export function memoryCounter(windowMs: number) {
  const entries = new Map<string, Entry>()
  let sweepAt = SWEEP_FROM

  const live = (key: string) => {
    const entry = entries.get(key)
    return entry && entry.endsAt > Date.now() ? entry : undefined
  }
  const put = (key: string, entry: Entry): StoredCount => {
    if (entries.size >= sweepAt) {
      for (const name of entries.keys()) if (!live(name)) entries.delete(name)
      sweepAt = Math.max(SWEEP_FROM, 2 * entries.size)
    }
    entries.set(key, entry)
    return stored(entry)
  }

  return {
    async add(key: string, by: 1 | -1) {
      const entry = live(key)
      if (!entry) return put(key, { count: by, endsAt: Date.now() + windowMs })
      entry.count += by
      return stored(entry)
    },
    async read(key: string) {
      const entry = live(key)
      return entry ? stored(entry) : NOTHING
    },
    async set(key: string, count: number, ms: number) {
      put(key, { count, endsAt: Date.now() + ms })
    },
    async remove(key: string) {
      entries.delete(key)
    },
  }
}

function stored({ count, endsAt }: Entry): StoredCount {
  return { count, msLeft: endsAt - Date.now() }
}
