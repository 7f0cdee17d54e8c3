import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Carrier } from '../delivery/carrier.js'
import type { Channel } from '../delivery/message.js'
import type { Logger } from '../log/logger.js'
import type { Store } from '../store/store.js'
import { timedCarriers } from './delivery-metrics.js'
import { eventCounter } from './event-metrics.js'
import { type RequestObserver, requestTimes } from './request-metrics.js'
import { queueDepth, timedStore } from './store-metrics.js'

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

/** The metrics of one service; all services of a process share the metrics of the process. */
export function serviceMetrics(): Metrics {
  const registry = new Registry()
  return {
    observeRequest: requestTimes(registry),
    countEvent: eventCounter(registry),
    timeStore(store) {
      queueDepth(registry, store)
      return timedStore(registry, store)
    },
    timeCarriers: timedCarriers(registry),
    async read() {
      const texts = [await registry.metrics(), await processMetrics().metrics()]
      return { text: texts.join('\n'), contentType: registry.contentType }
    },
  }
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
