/** Answers that are believed for a short while. */
export interface Brief<T> {
  /** The answer for a key, asked for at most once in the while. A failure is not kept. */
  get(key: string): Promise<T>
  forget(key: string): void
  /** Forgets answers by what they say; one that is still being asked for is forgotten too. */
  forgetWhere(says: (answer: T) => boolean): void
}

interface Kept<T> {
  readonly until: number
  readonly asked: Promise<T>
  answer?: { readonly value: T }
}

const MOST = 10_000

/** Keeps what `ask` answers for `freshMs`. An answer of `undefined` means "there is none" and is not kept. */
export function briefly<T>(freshMs: number, ask: (key: string) => Promise<T>): Brief<T> {
  const kept = new Map<string, Kept<T>>()

  function askNow(key: string): Promise<T> {
    // The age counts from the question: what changed while it was asked must be seen in time as well.
    const entry: Kept<T> = { until: performance.now() + freshMs, asked: ask(key) }
    if (kept.size >= MOST) kept.clear()
    kept.set(key, entry)
    const drop = () => kept.get(key) === entry && kept.delete(key)
    entry.asked.then((value) => {
      if (value === undefined) drop()
      else entry.answer = { value }
    }, drop)
    return entry.asked
  }

  return {
    get(key) {
      const entry = kept.get(key)
      return entry && entry.until > performance.now() ? entry.asked : askNow(key)
    },
    forget: (key) => void kept.delete(key),
    forgetWhere(says) {
      for (const [key, entry] of kept) {
        if (!entry.answer || says(entry.answer.value)) kept.delete(key)
      }
    },
  }
}
