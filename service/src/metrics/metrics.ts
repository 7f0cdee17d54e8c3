import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Carrier, Channel } from '../delivery/message.js'
import type { Logger } from '../log/logger.js'
import type { Store } from '../store/store.js'
import { timedCarriers } from './delivery-metrics.js'
import { eventCounter } from './event-metrics.js'
import { queueDepth } from './queue.js'
import { type RequestObserver, requestTimes } from './request-metrics.js'
import { timedStore } from './store-metrics.js'

/** What the service counts. Labels are words from fixed lists, never a contact, account or address. */
export interface Metrics {
  readonly observeRequest: RequestObserver
  /** Counts what the events tell. */
  readonly countEvent: Logger
  /** The same store, timed; how many messages wait in it is counted when the metrics are read. */
  timeStore(store: Store): Store
  /** The same carriers, timed. */
  timeCarriers(carriers: Carriers): Carriers
  /** Everything in Prometheus' text format. */
  read(): Promise<{ readonly text: string; readonly contentType: string }>
}

type Carriers = Readonly<Partial<Record<Channel, Carrier>>>

/** Metrics of one service; those of the process are the same for all services in it. */
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
      const texts = [await registry.metrics(), await ofProcess().metrics()]
      return { text: texts.join('\n'), contentType: registry.contentType }
    },
  }
}

let processRegistry: Registry | undefined

function ofProcess(): Registry {
  // Made when somebody first asks: it watches the garbage collector, and one is enough.
  if (!processRegistry) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
  }
  return processRegistry
}
