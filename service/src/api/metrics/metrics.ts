import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { PausedCarrier } from '../../messages/carriers/fallback.js'
import { selectWaiting } from '../../messages/delivery/outbox-table.js'
import type { CeilingUse } from '../../operator/daily-ceilings.js'
import type { LockedOutUsers } from '../../operator/locked-out-users.js'
import { countLockedSql } from '../../operator/locked-users.js'
import type { Store } from '../../store/store.js'
import { createTimedCarriers, eventCounter, requestTimes } from './event-metrics.js'

/** The metrics of a service. All labels are words from fixed lists or names of carriers, never a contact, account or address. */
export type Metrics = ReturnType<typeof serviceMetrics>

interface ShownParts {
  /** How many messages a carrier accepted that the store does not know as sent yet. */
  unrecorded(): number
  /** Every carrier that this process has paused. */
  pauses(): readonly PausedCarrier[]
  /** Whether the store answers and accepts writes. */
  isStoreAvailable(): Promise<boolean>
  /** By how much the clock of the database is ahead of that of this machine; `undefined` while the store does not answer. */
  clockDifferenceMs(): Promise<number | undefined>
  /** The applications with users who cannot sign in. */
  lockedOut(): Promise<readonly LockedOutUsers[]>
  /** The ceilings of today that are used up, or nearly so. */
  ceilings(): Promise<readonly CeilingUse[]>
}

/** The metrics of one service of release `version`; all services of a process share the metrics of the process. */
export function serviceMetrics(version: string) {
  const registry = new Registry()
  return {
    observeRequest: requestTimes(registry),
    countEvent: eventCounter(registry),
    /** The same store, measured; what waits in it is counted when the metrics are read. */
    timeStore(store: Store): Store {
      buildInfo(registry, version, store)
      poolUse(registry, store)
      registerStoreCounts(registry, store)
      return timedStore(registry, store)
    },
    /** Shows what these parts say whenever the metrics are read, so also without any other request. */
    show: (parts: ShownParts) => showParts(registry, parts),
    timeCarriers: createTimedCarriers(registry),
    /** All metrics in Prometheus' text format. */
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
  const measure = async <T>(operation: string, work: Promise<T>): Promise<T> => {
    const start = performance.now()
    try {
      return await work
    } finally {
      times.observe({ operation }, (performance.now() - start) / 1000)
    }
  }
  return {
    ...store,
    query: (text, params) => measure('query', store.query(text, params)),
    transaction: (work) => measure('transaction', store.transaction(work)),
  }
}

/** The counts that are read from the store whenever the metrics are read; the rows are the labels and the number `n`. */
const COUNTED_IN_STORE = {
  countersign_queue_messages: {
    help: 'Messages that wait to be delivered',
    sql: `SELECT count(*)::integer AS n FROM (${selectWaiting()}) AS waiting`,
  },
  countersign_queue_webhook_events: {
    help: 'Events that wait to be posted to endpoints that are not paused or disabled',
    sql: `SELECT count(*)::integer AS n FROM event_endpoint AS endpoint JOIN event_delivery
       ON event_delivery.application = endpoint.application AND event_delivery.endpoint = endpoint.id
     WHERE event_delivery.state = 'queued' AND endpoint.paused_at IS NULL AND endpoint.disabled_at IS NULL`,
  },
  countersign_queue_transcription_jobs: {
    help: 'Recordings of jobs that wait to be transcribed',
    sql: "SELECT count(*)::integer AS n FROM transcription_job WHERE state = 'queued'",
  },
  countersign_disabled_webhooks: {
    help: 'Endpoints that get no more events because every attempt failed, until an operator resumes them',
    sql: 'SELECT count(*)::integer AS n FROM event_endpoint WHERE disabled_at IS NOT NULL',
  },
  countersign_locked_users: {
    help: 'Users who are locked now by wrong codes, by application',
    label: 'application',
    sql: countLockedSql('(extract(epoch FROM clock_timestamp()) * 1000)::bigint'),
  },
  countersign_paused_destinations: {
    help: 'Countries and prefixes to whose phones nothing is sent until an operator lifts the pause, by scope',
    label: 'scope',
    sql: `SELECT scope, (SELECT count(*)::integer FROM phone_traffic
         WHERE phone_traffic.scope = known.scope AND paused_at IS NOT NULL) AS n
       FROM unnest(ARRAY['country', 'prefix']) AS known (scope)`,
  },
} as const satisfies Record<string, { readonly help: string; readonly sql: string; readonly label?: string }>

function registerStoreCounts(registry: Registry, store: Store): void {
  for (const [name, count] of Object.entries(COUNTED_IN_STORE)) {
    const label = 'label' in count ? count.label : undefined
    new Gauge({
      name,
      help: count.help,
      labelNames: label ? [label] : [],
      registers: [registry],
      async collect() {
        // When the store fails, the other metrics must still be readable.
        const rows = await store.query<{ n: number; scope?: string }>(count.sql).catch(() => undefined)
        if (label) this.reset()
        else if (!rows) this.set(Number.NaN)
        for (const { n, ...labels } of rows ?? []) this.set(labels, n)
      },
    })
  }
}

function gauge(registry: Registry, name: string, help: string, value: () => number | Promise<number>): void {
  new Gauge({
    ...{ name, help, registers: [registry] },
    async collect() {
      this.set(await value())
    },
  })
}

/** A metric with a value for each of some names, the values of its label. */
function createLabelledGauge(
  registry: Registry,
  about: { readonly name: string; readonly help: string; readonly label: string },
  values: () => Promise<readonly (readonly [label: string, value: number])[]>,
): void {
  const { name, help, label } = about
  new Gauge({
    ...{ name, help, labelNames: [label], registers: [registry] },
    async collect() {
      // A gauge whose source cannot be read has no series.
      const found = await values().catch(() => [])
      this.reset()
      for (const [of, value] of found) this.set({ [label]: of }, value)
    },
  })
}

function showParts(
  registry: Registry,
  { unrecorded, pauses, isStoreAvailable, clockDifferenceMs, lockedOut, ceilings }: ShownParts,
): void {
  gauge(
    registry,
    'countersign_unrecorded_messages',
    'Messages that a carrier accepted from this process, and that the database does not know as sent yet',
    unrecorded,
  )
  gauge(
    registry,
    'countersign_store_available',
    'Whether the database answers this process and accepts writes (1) or not (0)',
    async () => Number(await isStoreAvailable()),
  )
  gauge(
    registry,
    'countersign_clock_difference_seconds',
    'By how much the clock of the database is ahead of that of this machine',
    async () => ((await clockDifferenceMs()) ?? Number.NaN) / 1_000,
  )
  const paused = 'Whether this process pauses a carrier after failures (1) or not (0), by carrier'
  createLabelledGauge(
    registry,
    { name: 'countersign_carrier_paused', help: paused, label: 'carrier' },
    // Without messages nothing tries the carrier again, so a pause ends by its time.
    async () => pauses().map(({ carrier, until }) => [carrier, Number(until > Date.now())] as const),
  )
  const lockedOutHelp =
    'Users who cannot sign in, because their application does not offer any of their factors, by application'
  createLabelledGauge(
    registry,
    { name: 'countersign_locked_out_users', help: lockedOutHelp, label: 'application' },
    async () =>
      (await lockedOut()).map(
        (affected) =>
          [affected.application, Math.max(...affected.lockedOut.map(({ users }) => users), 1)] as const,
      ),
  )
  const ceilingHelp =
    'Used share of the daily ceiling of messages, or of the part of phones in it, from 0.8 on, by application'
  createLabelledGauge(
    registry,
    { name: 'countersign_daily_ceiling_used', help: ceilingHelp, label: 'application' },
    async () =>
      (await ceilings())
        .map(({ application, sent, ceiling }) => [application, sent / ceiling] as const)
        .sort(([, used], [, other]) => used - other),
  )
}

function poolUse(registry: Registry, store: Store): void {
  const counts = store.connections?.bind(store)
  if (!counts) return
  const help = 'Connections of this process to the database, by state (used, idle)'
  createLabelledGauge(
    registry,
    { name: 'countersign_database_connections', help, label: 'state' },
    async () => Object.entries({ used: counts().used, idle: counts().idle }),
  )
  gauge(
    registry,
    'countersign_database_connections_max',
    'The maximum number of connections of this process (SERVICE_DATABASE_POOL_SIZE)',
    () => counts().max,
  )
  gauge(
    registry,
    'countersign_database_waiting',
    'Statements that wait for a free connection',
    () => counts().waiting,
  )
}
