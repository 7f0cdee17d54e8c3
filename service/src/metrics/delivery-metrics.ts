import { Histogram, type Registry } from 'prom-client'
import type { Carrier, Channel } from '../delivery/message.js'

type Carriers = Readonly<Partial<Record<Channel, Carrier>>>

/** Wraps carriers so that the time each handing over takes is known. */
export function timedCarriers(registry: Registry): (carriers: Carriers) => Carriers {
  const times = new Histogram({
    name: 'countersign_delivery_seconds',
    help: 'Time to hand a message over to what carries it, by channel and outcome (sent, failed)',
    labelNames: ['channel', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  })
  const timed = (carrier: Carrier): Carrier => ({
    ...carrier,
    async deliver(letter, signal) {
      const begun = performance.now()
      const observe = (outcome: string) =>
        times.observe({ channel: letter.channel, outcome }, (performance.now() - begun) / 1000)
      try {
        const receipt = await carrier.deliver(letter, signal)
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
