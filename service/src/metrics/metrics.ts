import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Carrier } from '../delivery/carrier.js'
import type { Channel } from '../delivery/message.js'
import type { Logger } from '../log/logger.js'
import type { Store } from '../store/store.js'
import { eventCounter, type RequestObserver, requestTimes, timedCarriers } from './event-metrics.js'
import { eventQueueDepth, pausedDestinations, poolUse, queueDepth, timedStore } from './store-metrics.js'

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
