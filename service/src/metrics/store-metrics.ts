import { Gauge, Histogram, type Registry } from 'prom-client'
import { queryOne, type Store } from '../store/store.js'

/** The same store; the duration of each statement and transaction is measured. */
export function timedStore(registry: Registry, store: Store): Store {
  const times = new Histogram({
    name: 'countersign_store_seconds',
    help: 'Time spent on the database, waiting for a connection included, by operation (query, transaction)',
    labelNames: ['operation'],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    registers: [registry],
  })
  const timed = async <T>(operation: string, work: Promise<T>): Promise<T> => {
    const start = performance.now()
    try {
      return await work
    } finally {
      times.observe({ operation }, (performance.now() - start) / 1000)
    }
  }
  return {
    ...store,
    query: (text, params) => timed('query', store.query(text, params)),
    transaction: (work) => timed('transaction', store.transaction(work)),
  }
}

/** Counts the queued messages in the store whenever the metrics are read. */
export function queueDepth(registry: Registry, store: Store): void {
  new Gauge({
    name: 'countersign_queue_messages',
    help: 'Messages that wait to be delivered',
    registers: [registry],
    async collect() {
      // When the store fails, the other metrics must still be readable.
      const row = await queryOne<{ waiting: number }>(
        store,
        "SELECT count(*)::bigint AS waiting FROM outbox WHERE state = 'queued'",
        [],
      ).catch(() => undefined)
      this.set(row ? Number(row.waiting) : Number.NaN)
    },
  })
}

/** Counts the events in the store that wait to be posted whenever the metrics are read. */
export function eventQueueDepth(registry: Registry, store: Store): void {
  new Gauge({
    name: 'countersign_queue_webhook_events',
    help: 'Events that wait to be posted to endpoints that are not paused or disabled',
    registers: [registry],
    async collect() {
      const row = await queryOne<{ waiting: number }>(
        store,
        `SELECT count(*)::bigint AS waiting FROM event_endpoint AS endpoint JOIN event_delivery
           ON event_delivery.application = endpoint.application AND event_delivery.endpoint = endpoint.id
         WHERE event_delivery.state = 'queued' AND endpoint.paused_at IS NULL AND endpoint.disabled_at IS NULL`,
        [],
      ).catch(() => undefined)
      this.set(row ? Number(row.waiting) : Number.NaN)
    },
  })
}

/** Shows how the pool of connections is used, where there is one. */
export function poolUse(registry: Registry, store: Store): void {
  const counts = store.connections?.bind(store)
  if (!counts) return
  const connections = new Gauge({
    name: 'countersign_database_connections',
    help: 'Connections of this process to the database, by state (used, idle)',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { used, idle } = counts()
      connections.set({ state: 'used' }, used)
      connections.set({ state: 'idle' }, idle)
    },
  })
  new Gauge({
    name: 'countersign_database_connections_max',
    help: 'The maximum number of connections of this process (SERVICE_DATABASE_POOL_SIZE)',
    registers: [registry],
    collect() {
      this.set(counts().max)
    },
  })
  new Gauge({
    name: 'countersign_database_waiting',
    help: 'Statements that wait for a free connection',
    registers: [registry],
    collect() {
      this.set(counts().waiting)
    },
  })
}

/** Counts the paused countries and prefixes in the store whenever the metrics are read. */
export function pausedDestinations(registry: Registry, store: Store): void {
  new Gauge({
    name: 'countersign_paused_destinations',
    help: 'Countries and prefixes to whose phones nothing is sent until an operator lifts the pause, by scope',
    labelNames: ['scope'],
    registers: [registry],
    async collect() {
      const rows = await store
        .query<{ scope: string; paused: number }>(
          `SELECT scope, (SELECT count(*)::integer FROM phone_traffic
             WHERE phone_traffic.scope = known.scope AND paused_at IS NOT NULL) AS paused
           FROM unnest(ARRAY['country', 'prefix']) AS known (scope)`,
        )
        .catch(() => undefined)
      if (!rows) this.reset()
      for (const { scope, paused } of rows ?? []) this.set({ scope }, paused)
    },
  })
}
