import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Carrier } from '../delivery/carrier.js'
import type { Channel } from '../delivery/message.js'
import type { Logger } from '../log/logger.js'
import { queryOne, type Store } from '../store/store.js'
import { eventCounter, type RequestObserver, requestTimes, timedCarriers } from './event-metrics.js'

/**
 * The metrics of a service. All labels are words from fixed lists or names of carriers, never a contact, account or address.
 */
export interface Metrics {
  readonly observeRequest: RequestObserver
  /** Counts the events of the log. */
  readonly countEvent: Logger
  /** The same store, measured; its queued messages are counted when the metrics are read. */
  timeStore(store: Store): Store
  /** The same carriers, measured. */
  timeCarriers(carriers: Carriers): Carriers
  /** All metrics in Prometheus' text format. */
  read(): Promise<{ readonly text: string; readonly contentType: string }>
}

type Carriers = Readonly<Partial<Record<Channel, Carrier>>>

/** The metrics of one service of release `version`; all services of a process share the metrics of the process. */
export function serviceMetrics(version: string): Metrics {
  const registry = new Registry()
  return {
    observeRequest: requestTimes(registry),
    countEvent: eventCounter(registry),
    timeStore(store) {
      buildInfo(registry, version, store)
      poolUse(registry, store)
      queueDepth(registry, store)
      eventQueueDepth(registry, store)
      pausedDestinations(registry, store)
      return timedStore(registry, store)
    },
    timeCarriers: timedCarriers(registry),
    async read() {
      const texts = [await registry.metrics(), await processMetrics().metrics()]
      return { text: texts.join('\n'), contentType: registry.contentType }
    },
  }
}

/** Which release runs where: its value is always 1. */
function buildInfo(registry: Registry, version: string, { name }: Store): void {
  new Gauge({
    name: 'countersign_build_info',
    help: 'Always 1; the labels are the release, the release of Node.js and the kind of database',
    labelNames: ['version', 'node', 'store'],
    registers: [registry],
  }).set({ version, node: process.versions.node, store: name }, 1)
}

let processRegistry: Registry | undefined

function processMetrics(): Registry {
  // Created on first use and only once, because it observes the garbage collector.
  if (!processRegistry) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
  }
  return processRegistry
}

/** The same store; the duration of each statement and transaction is measured. */
function timedStore(registry: Registry, store: Store): Store {
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
function queueDepth(registry: Registry, store: Store): void {
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
function eventQueueDepth(registry: Registry, store: Store): void {
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
function poolUse(registry: Registry, store: Store): void {
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
function pausedDestinations(registry: Registry, store: Store): void {
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
