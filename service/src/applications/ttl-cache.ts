/** A cache whose entries live for a fixed time. */
export interface TtlCache<T> {
  /** The value for a key, loaded at most once within its lifetime. A failure is not cached. */
  get(key: string): Promise<T>
  delete(key: string): void
  /** Deletes the entries whose value matches, and those that are still being loaded. */
  deleteWhere(matches: (value: T) => boolean): void
}

interface Entry<T> {
  readonly expiresAt: number
  readonly loading: Promise<T>
  loaded?: { readonly value: T }
}

const MAX_ENTRIES = 10_000

/** Caches what `load` returns for `ttlMs`. `undefined` means that there is no value, and is not cached. */
export function ttlCache<T>(ttlMs: number, load: (key: string) => Promise<T>): TtlCache<T> {
  const entries = new Map<string, Entry<T>>()

  function loadNow(key: string): Promise<T> {
    // The lifetime begins before loading: a change during loading must be seen in time too.
    const entry: Entry<T> = { expiresAt: performance.now() + ttlMs, loading: load(key) }
    if (entries.size >= MAX_ENTRIES) entries.clear()
    entries.set(key, entry)
    const drop = () => entries.get(key) === entry && entries.delete(key)
    entry.loading.then((value) => {
      if (value === undefined) drop()
      else entry.loaded = { value }
    }, drop)
    return entry.loading
  }

  return {
    get(key) {
      const entry = entries.get(key)
      return entry && entry.expiresAt > performance.now() ? entry.loading : loadNow(key)
    },
    delete: (key) => void entries.delete(key),
    deleteWhere(matches) {
      for (const [key, entry] of entries) {
        if (!entry.loaded || matches(entry.loaded.value)) entries.delete(key)
      }
    },
  }
}
