import { expect, test } from 'vitest'
import { inTurn, type Miss } from '../../src/carriers/fallback.js'
import { type Carrier, CHANNELS, DeliveryError, type DeliveryFault } from '../../src/delivery/message.js'
import { webhookCarrier } from '../../src/carriers/webhook.js'
import { collectGarbageSoon } from '../collect-garbage.js'
import { rejection } from '../kit.js'
import { describeCarrier } from './contract.js'
import { letter } from './letters.js'
import { leadingTo, SECRET, webhookReceiver } from './webhook-receiver.js'

type Behaviour = DeliveryFault | 'take' | 'silence' | 'bug'

/** Carriers that behave as told, tried in turn; who was asked and who did not take the letter. */
function several(...behaviours: readonly Behaviour[]) {
  const asked: string[] = []
  const misses: Miss[] = []
  const carriers = behaviours.map((behaviour, index): Carrier => {
    const name = `carrier-${index + 1}`
    return {
      name,
      async deliver(_letter, signal) {
        asked.push(name)
        if (behaviour === 'take') return { id: 'x1' }
        if (behaviour === 'bug') throw new TypeError('not foreseen')
        if (behaviour !== 'silence') throw new DeliveryError('no', behaviour)
        return await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
      },
      async close() {},
    }
  })
  const carrier = inTurn(carriers, 300, (miss) => void misses.push(miss))
  return { asked, misses, deliver: () => carrier.deliver(letter('sms'), AbortSignal.timeout(10_000)) }
}

describeCarrier('a carrier after one that will not serve us', CHANNELS, async () => {
  const [stranger, server] = [await webhookReceiver(), await webhookReceiver()]
  const carriers = [
    webhookCarrier({ url: stranger.url, secret: 'not the one it knows', name: 'first' }),
    webhookCarrier({ url: `${server.url}/hook?key=address-key`, secret: SECRET, name: 'second' }),
  ]
  const end = leadingTo(
    server,
    inTurn(carriers, 10_000, () => {}),
  )
  const close = async () => {
    await Promise.all([stranger.close(), server.close()])
  }
  return Object.assign(end, { close })
})

test.each(['carrier', 'outage', 'silence', 'bug'] as const)(
  'the next carrier is asked after a fault of kind %s',
  async (first) => {
    const { deliver, asked, misses } = several(first, 'take', 'take')
    expect(await deliver()).toEqual({ id: 'x1', carrier: 'carrier-2' })
    expect(asked).toEqual(['carrier-1', 'carrier-2'])
    expect(misses.map(({ carrier, fault }) => [carrier, fault])).toEqual([
      ['carrier-1', first === 'carrier' ? 'carrier' : 'outage'],
    ])
  },
)

test('a carrier that says nothing has its share and no more, whenever memory is collected', async () => {
  const { deliver, asked } = several('silence', 'silence', 'take')
  const delivered = deliver()
  collectGarbageSoon()
  expect(await delivered).toEqual({ id: 'x1', carrier: 'carrier-3' })
  expect(asked).toEqual(['carrier-1', 'carrier-2', 'carrier-3'])
})

test('a contact that cannot be reached is refused at once', async () => {
  const { deliver, asked } = several('outage', 'contact', 'take')
  expect(await rejection(deliver())).toMatchObject({ fault: 'contact', carrier: 'carrier-2' })
  expect(asked).toEqual(['carrier-1', 'carrier-2'])
})

test.each([
  [['carrier', 'carrier'], 'carrier', 'carrier-2'],
  [['carrier', 'outage', 'carrier'], 'outage', 'carrier-2'],
  [['outage', 'carrier'], 'outage', 'carrier-1'],
] as const)(
  'of %j the letter may be tried again only when somebody was down',
  async (behaviours, fault, who) => {
    const { deliver, asked } = several(...behaviours)
    expect(await rejection(deliver())).toMatchObject({ fault, carrier: who })
    expect(asked).toHaveLength(behaviours.length)
  },
)
