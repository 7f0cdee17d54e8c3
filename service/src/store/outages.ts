import type { Store, Transactions } from './store.js'
import { StoreUnavailableError } from './store-unavailable.js'

/** For how long a database counts as full after it refused to write for that reason. */
const FULL_FOR_MS = 3_000

/** What the failures of a store reveal that no probe can find out. */
export interface StoreOutages {
  /** The same store, observed. */
  readonly store: Store
  /** Whether a statement failed in the last seconds because the database has no disk space left. */
  isFull(): boolean
}

/**
 * Observes a store. A database whose disk is full still reads, and still changes rows on pages with free space, so only
 * the statements that fail show it.
 */
export function storeOutages(store: Store): StoreOutages {
  let fullUntil = 0
  const observed = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.reason === 'full') {
        fullUntil = performance.now() + FULL_FOR_MS
      }
      throw error
    }
  }
  const observe = (transactions: Transactions): Transactions => ({
    query: (text, params) => observed(transactions.query(text, params)),
    transaction: (work) => observed(transactions.transaction(work)),
  })
  return {
    store: { ...store, ...observe(store), background: observe(store.background) },
    isFull: () => performance.now() < fullUntil,
  }
}
