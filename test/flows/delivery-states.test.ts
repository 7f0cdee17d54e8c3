import { beforeEach, describe, expect, it } from 'vitest'
import { createDeliveryStates } from '../../src/flows/delivery-states.js'
import type { Granted } from '../../src/protocol/service.js'
import { stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { signal } from '../kit/signal.js'
import { timesPassed } from '../kit/times-passed.js'

let clock: ReturnType<typeof stopClock>
beforeEach(() => {
  clock = stopClock()
})

const message = { challenge: 'one', round: 1 }

/** Delivery states of a service that reports these in turn, and then always the last; and the calls of the service. */
function reporting(...statuses: (Granted<'deliveryOf'>['status'] | Error | undefined)[]) {
  const asked: string[] = []
  const states = createDeliveryStates({
    async deliveryOf({ challenge }) {
      asked.push(challenge)
      const status = statuses.length > 1 ? statuses.shift() : statuses[0]
      if (status instanceof Error) throw status
      return status && { status, channel: 'sms', to: '••• 01', updatedAt: 0 }
    },
  })
  return { states, asked }
}

describe('the delivery state of a message', () => {
  it('is looked up every two seconds at most, however many pages show it', async () => {
    const { states, asked } = reporting('queued')
    await Promise.all(Array.from({ length: 20 }, () => states.of(message)))
    expect(asked).toHaveLength(1)
    clock.move(1_999)
    expect(await states.of(message)).toBe('queued')
    expect(asked).toHaveLength(1)
    clock.move(1)
    await states.of(message)
    expect(asked).toHaveLength(2)
  })

  it('is looked up thirty times at most', async () => {
    const { states, asked } = reporting('queued')
    for (let second = 0; second < 600; second++) {
      await states.of(message)
      clock.move(1_000)
    }
    expect(asked).toHaveLength(30)
    expect(await states.of(message)).toBe('queued')
  })

  it('is not looked up again once it is final', () =>
    everyCase(['sent', 'refused', 'expired'] as const, async (status) => {
      const { states, asked } = reporting('queued', status, 'queued')
      await states.of(message)
      clock.move(2_000)
      expect(await states.of(message)).toBe(status)
      clock.move(60_000)
      expect(await states.of(message)).toBe(status)
      expect(asked).toHaveLength(2)
    }))

  it('is looked up until it is final, not only until it is sent, if the carrier reports that', () =>
    everyCase(['delivered', 'failed'] as const, async (last) => {
      const { states, asked } = reporting('queued', 'sent', last, 'sent')
      for (const expected of ['queued', 'sent', last, last]) {
        expect(await states.of({ ...message, reports: true })).toBe(expected)
        clock.move(2_000)
      }
      expect(asked).toHaveLength(3)
    }))

  it('is looked up afresh when the code was sent again', async () => {
    const { states, asked } = reporting('refused', 'queued')
    await states.of(message)
    expect(await states.of({ ...message, round: 2 })).toBe('queued')
    expect(asked).toEqual(['one', 'one'])
  })

  it('stays as it was when the service fails or no longer knows it', async () => {
    const { states } = reporting('queued', new Error('down'), undefined)
    for (let round = 0; round < 3; round++) {
      expect(await states.of(message)).toBe('queued')
      clock.move(2_000)
    }
  })

  it('is not replaced by an older state that arrives late', async () => {
    const released = signal()
    let asked = 0
    const states = createDeliveryStates({
      async deliveryOf() {
        const isFirst = ++asked === 1
        if (isFirst) await released.given
        return { status: isFirst ? 'queued' : 'sent', channel: 'sms', to: '••• 01', updatedAt: 0 }
      },
    })
    expect(await states.of(message)).toBe(undefined)
    clock.move(2_000)
    expect(await states.of(message)).toBe('sent')
    released.give()
    await new Promise((resolve) => setImmediate(resolve))
    expect(await states.of(message)).toBe('sent')
    clock.move(60_000)
    await states.of(message)
    expect(asked).toBe(2)
  })

  it('is waited for half a second, and available at the next look-up if it arrives later', async () => {
    const released = signal()
    const states = createDeliveryStates({
      async deliveryOf() {
        await released.given
        return { status: 'refused', channel: 'sms', to: '••• 01', updatedAt: 0 }
      },
    })
    const rung = timesPassed(450, 2_000)
    expect(await states.of(message)).toBeUndefined()
    expect(rung).toEqual([450])
    released.give()
    await expect.poll(() => states.of(message)).toBe('refused')
  })

  it('is looked up again after the clock was set back', async () => {
    const { states, asked } = reporting('queued')
    await states.of(message)
    clock.move(-3_600_000)
    await states.of(message)
    expect(asked).toHaveLength(2)
  })

  it('is remembered for a limited number of messages', async () => {
    const { states, asked } = reporting('sent')
    for (let round = 0; round <= 10_000; round++) await states.of({ challenge: 'many', round })
    await states.of({ challenge: 'many', round: 0 })
    expect(asked).toHaveLength(10_002)
  })

  it('is unknown if the service does not report it', async () => {
    const states = createDeliveryStates({})
    expect(states.isSupported).toBe(false)
    expect(await states.of(message)).toBeUndefined()
  })
})
