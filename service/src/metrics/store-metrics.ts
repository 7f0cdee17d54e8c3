import { Histogram, type Registry } from 'prom-client'
import type { Store } from '../store/store.js'

/** The same store, with the time each statement and transaction takes. */
export function timedStore(registry: Registry, store: Store): Store {
  const times = new Histogram({
    name: 'countersign_store_seconds',
    help: 'Time in the database, waiting for a connection included, by operation (query, transaction)',
    labelNames: ['operation'],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    registers: [registry],
  })
  const timed = async <T>(operation: string, work: Promise<T>): Promise<T> => {
    const begun = performance.now()
    try {
      return await work
    } finally {
      times.observe({ operation }, (performance.now() - begun) / 1000)
    }
  }
  return {
    ...store,
    query: (text, params) => timed('query', store.query(text, params)),
    transaction: (work) => timed('transaction', store.transaction(work)),
  }
}
