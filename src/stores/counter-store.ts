/** A count, and how long it still holds. */
export interface StoredCount {
  /** How often it was counted in this window; 0 when the key is not there. */
  readonly count: number
  /** Milliseconds until the window ends and the count starts over at 0. */
  readonly msLeft: number
}

/**
 * A store of your own for the counters of wrong codes and messages, shared by all processes of the app. Keys are
 * printable ASCII of at most 200 characters. Each step must be atomic: of two processes that call `add` at once, one
 * gets the higher count. A method that throws, or takes longer than 3 seconds, is a `LimitsStoreError`, and no code is
 * evaluated.
 */
export interface CounterStore {
  /**
   * Adds 1 or -1 to the count and returns the result, in one atomic step. When the key is not there, or its window is
   * over, the count starts at 0 and a window of `windowMs` milliseconds begins; later steps do not extend it.
   */
  add(key: string, by: 1 | -1, windowMs: number): Promise<StoredCount>
  /** Reads the count without changing it: `{ count: 0, msLeft: 0 }` when the key is not there or its window is over. */
  read(key: string): Promise<StoredCount>
  /** Sets the count and begins a window of `windowMs` milliseconds. */
  set(key: string, count: number, windowMs: number): Promise<void>
  /** Forgets the key. */
  remove(key: string): Promise<void>
}
