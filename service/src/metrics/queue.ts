import { Gauge, type Registry } from 'prom-client'
import { one, type Store } from '../store/store.js'

/** How many messages wait to be delivered, asked of the store whenever the metrics are read. */
export function queueDepth(registry: Registry, store: Store): void {
  new Gauge({
    name: 'countersign_queue_messages',
    help: 'Messages that wait to be delivered',
    registers: [registry],
    async collect() {
      // A store that cannot be asked must not hide the other metrics.
      const row = await one<{ waiting: number }>(
        store,
        "SELECT count(*)::bigint AS waiting FROM outbox WHERE state = 'queued'",
        [],
      ).catch(() => undefined)
      this.set(row ? Number(row.waiting) : Number.NaN)
    },
  })
}
