import { Histogram, type Registry } from 'prom-client'
import type { Carrier } from '../delivery/carrier.js'
import type { Channel } from '../delivery/message.js'

type Carriers = Readonly<Partial<Record<Channel, Carrier>>>

/** Returns the same carriers; the duration of each handover is measured. */
export function timedCarriers(registry: Registry): (carriers: Carriers) => Carriers {
  const times = new Histogram({
    name: 'countersign_delivery_seconds',
    help: 'Time to hand a message over to its carrier, by channel and outcome (sent, failed)',
    labelNames: ['channel', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  })
  const timed = (carrier: Carrier): Carrier => ({
    ...carrier,
    async deliver(message, signal) {
      const start = performance.now()
      const observe = (outcome: string) =>
        times.observe({ channel: message.channel, outcome }, (performance.now() - start) / 1000)
      try {
        const receipt = await carrier.deliver(message, signal)
        observe('sent')
        return receipt
      } catch (error) {
        observe('failed')
        throw error
      }
    },
  })
  return (carriers) =>
    Object.fromEntries(
      Object.entries(carriers).flatMap(([channel, carrier]) => (carrier ? [[channel, timed(carrier)]] : [])),
    )
}
