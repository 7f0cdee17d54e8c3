import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Carrier, Channel } from '../../src/delivery/message.js'
import { eventually, rejection } from '../kit.js'
import { CODE, letter } from './letters.js'

/** How a receiver behaves next: takes it, has no such recipient, will not serve us, is overloaded, says nothing. */
export type Answer = 'take' | 'no such contact' | 'not for you' | 'later' | 'silence'

/** A carrier and the receiver at its other end. */
export interface OpenedCarrier {
  readonly carrier: Carrier
  /** For whom messages arrived, and what they said. */
  readonly arrived: readonly { readonly to: readonly string[]; readonly content: string }[]
  /** Sets how the receiver behaves from now on. A carrier without one that could refuse has none. */
  answer?(how: Answer): void
  /** What no error may tell. */
  readonly secrets: readonly string[]
  close(): Promise<void>
}

/** What every carrier owes the outbox. */
export function describeCarrier(
  name: string,
  channels: readonly Channel[],
  open: () => Promise<OpenedCarrier>,
): void {
  describe(`${name}, as every carrier`, () => {
    let opened: OpenedCarrier
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(async () => {
      await opened.carrier.close()
      await opened.close()
    })
    const deliver = (one: ReturnType<typeof letter>, timeoutMs = 5_000) =>
      opened.carrier.deliver(one, AbortSignal.timeout(timeoutMs))

    describe.each(channels)('by %s', (channel) => {
      test('hands one message with its code to exactly one recipient (R88)', async () => {
        const before = opened.arrived.length
        const one = letter(channel)
        await deliver(one)
        const arrived = opened.arrived.slice(before)
        expect(arrived).toHaveLength(1)
        expect(arrived[0]?.to).toEqual([one.to])
        expect(arrived[0]?.content.replace(/\D/g, '')).toContain(CODE)
      })

      test('takes nothing for more or less than one plain recipient (R88)', async () => {
        const { to } = letter(channel)
        const other = channel === 'email' ? '+447700900123' : 'zoe@example.com'
        const before = opened.arrived.length
        for (const hostile of [
          ...[`${to},${to}`, `${to} ${to}`, `${to};${to}`, `<${to}>`, `Group: ${to};`, `"${to}"`],
          ...[`${to}\r\nBcc: b@example.com`, `${to}\n`, `${to}\0`, `${to}&To=${to}`, '', ' ', other],
        ]) {
          expect(await rejection(deliver(letter(channel, { to: hostile }))), hostile).toMatchObject({
            name: 'DeliveryError',
            fault: 'contact',
          })
        }
        expect(opened.arrived).toHaveLength(before)
      })

      test('tells apart whom to blame, and lets no secret, contact or code into the error', async () => {
        if (!opened.answer) return
        const one = letter(channel)
        const faults = { 'no such contact': 'contact', 'not for you': 'carrier', later: 'outage' } as const
        for (const [how, fault] of Object.entries(faults)) {
          opened.answer(how as Answer)
          const error = await rejection(deliver(one))
          opened.answer('take')
          expect(error, how).toMatchObject({ name: 'DeliveryError', fault })
          const told = inspect(error, { depth: 10, showHidden: true })
          for (const secret of [...opened.secrets, one.to, CODE]) expect(told, how).not.toContain(secret)
        }
      })

      test('ends when its time is up, and works again afterwards', async () => {
        if (!opened.answer) return
        opened.answer('silence')
        const begun = performance.now()
        expect(await rejection(deliver(letter(channel), 100))).toMatchObject({ fault: 'outage' })
        expect(performance.now() - begun).toBeLessThan(2_000)
        opened.answer('take')
        const before = opened.arrived.length
        await deliver(letter(channel))
        // On a slow machine the receiver may see the first one only now, and take it.
        await eventually(() => expect(opened.arrived.length).toBeGreaterThan(before))
      })

      test('hands over 20 at once', async () => {
        const before = opened.arrived.length
        await Promise.all(Array.from({ length: 20 }, () => deliver(letter(channel))))
        expect(opened.arrived).toHaveLength(before + 20)
      })
    })
  })
}
