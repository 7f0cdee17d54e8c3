import { expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { type FailedCarrier, fallbackCarrier } from '../../src/messages/carriers/fallback.js'
import { webhookCarrier } from '../../src/messages/carriers/webhook.js'
import { type Carrier, DeliveryError, type DeliveryFault } from '../../src/messages/delivery/carrier.js'
import { CHANNELS } from '../../src/messages/message.js'
import { collectGarbageSoon } from '../collect-garbage.js'
import { rejection } from '../kit.js'
import { describeCarrier } from './contract.js'
import { message } from './queued-messages.js'
import { leadingTo, SECRET, webhookReceiver } from './webhook-receiver.js'

type Behaviour = DeliveryError | DeliveryFault | 'accept' | 'no response' | 'bug'

/** A fallback over carriers with these results; which ones were tried, and which did not accept the message. */
function several(...behaviours: readonly Behaviour[]) {
  const tried: string[] = []
  const failures: FailedCarrier[] = []
  const carriers = behaviours.map((behaviour, index): Carrier => {
    const name = `carrier-${index + 1}`
    return {
      name,
      async deliver(_letter, signal) {
        tried.push(name)
        if (behaviour === 'accept') return { id: 'x1' }
        if (behaviour === 'bug') throw new TypeError('not foreseen')
        if (behaviour instanceof DeliveryError) throw behaviour
        if (behaviour !== 'no response') throw new DeliveryError('no', behaviour)
        return await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
      },
      async close() {},
    }
  })
  const carrier = fallbackCarrier(carriers, 300, (miss) => void failures.push(miss))
  return { tried, failures, deliver: () => carrier.deliver(message('sms'), AbortSignal.timeout(10_000)) }
}

describeCarrier('a carrier after one that will not serve us', CHANNELS, async () => {
  const [stranger, server] = [await webhookReceiver(), await webhookReceiver()]
  const carriers = [
    webhookCarrier({ url: stranger.url, secret: 'not the one it knows', name: 'first' }),
    webhookCarrier({ url: `${server.url}/hook?key=address-key`, secret: SECRET, name: 'second' }),
  ]
  const end = leadingTo(
    server,
    fallbackCarrier(carriers, 10_000, () => {}),
  )
  const close = async () => {
    await Promise.all([stranger.close(), server.close()])
  }
  return Object.assign(end, { close })
})

test('tries the next carrier after a fault that another carrier may not have', () =>
  everyCase(['carrier', 'outage', 'no response', 'bug'] as const, async (first) => {
    const { deliver, tried, failures } = several(first, 'accept', 'accept')
    expect(await deliver()).toEqual({ id: 'x1', carrier: 'carrier-2' })
    expect(tried).toEqual(['carrier-1', 'carrier-2'])
    expect(failures.map(({ carrier, fault }) => [carrier, fault])).toEqual([
      ['carrier-1', first === 'carrier' ? 'carrier' : 'outage'],
    ])
  }))

test('a carrier that does not respond gets only its share of the time, even after garbage collection', async () => {
  const { deliver, tried } = several('no response', 'no response', 'accept')
  const delivered = deliver()
  collectGarbageSoon()
  expect(await delivered).toEqual({ id: 'x1', carrier: 'carrier-3' })
  expect(tried).toEqual(['carrier-1', 'carrier-2', 'carrier-3'])
})

test('a contact that cannot be reached is refused at once, because no other carrier can help', () =>
  everyCase(['unknown', 'unsuitable', 'unsubscribed'] as const, async (contact) => {
    const { deliver, tried } = several('outage', new DeliveryError('no', 'contact', { contact }), 'accept')
    expect(await rejection(deliver())).toMatchObject({
      fault: 'contact',
      details: { contact, carrier: 'carrier-2' },
    })
    expect(tried).toEqual(['carrier-1', 'carrier-2'])
  }))

test('a message that a carrier may have sent is not sent by another one', async () => {
  const unreadable = new DeliveryError('no', 'carrier', { mayHaveSent: true })
  const { deliver, tried } = several('outage', unreadable, 'accept')
  expect(await rejection(deliver())).toMatchObject({ fault: 'carrier', details: { carrier: 'carrier-2' } })
  expect(tried).toEqual(['carrier-1', 'carrier-2'])
})

test('a contact that one carrier does not reach is tried by the next one', async () => {
  const unreachable = () => new DeliveryError('no', 'contact', { contact: 'unreachable' })
  expect(await several(unreachable(), 'accept').deliver()).toMatchObject({ carrier: 'carrier-2' })
  expect(await rejection(several(unreachable(), 'carrier').deliver())).toMatchObject({
    fault: 'contact',
    details: { contact: 'unreachable', carrier: 'carrier-1' },
  })
  expect(await rejection(several(unreachable(), 'deferred').deliver())).toMatchObject({ fault: 'deferred' })
})

test('allows a retry when the first carrier allows it', async () => {
  const busy = (retryAfterMs?: number) => new DeliveryError('busy', 'outage', { retryAfterMs })
  const waits = async (...failures: readonly DeliveryError[]) =>
    ((await rejection(several(...failures).deliver())) as DeliveryError).details.retryAfterMs
  expect(await waits(busy(60_000), busy(30_000))).toBe(30_000)
  expect(await waits(busy(60_000), busy())).toBe(0)
  expect(await waits(busy(60_000), new DeliveryError('no', 'carrier'))).toBe(60_000)
})

test('allows a retry only if a carrier was down', () =>
  everyCase(
    [
      [['carrier', 'carrier'], 'carrier', 'carrier-2'],
      [['carrier', 'outage', 'carrier'], 'outage', 'carrier-2'],
      [['outage', 'carrier'], 'outage', 'carrier-1'],
    ] as const,
    async ([behaviours, fault, who]) => {
      const { deliver, tried } = several(...behaviours)
      expect(await rejection(deliver())).toMatchObject({ fault, details: { carrier: who } })
      expect(tried).toHaveLength(behaviours.length)
    },
  ))
