import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Carrier, DeliveryError } from '../../src/messages/delivery/carrier.js'
import type { Channel } from '../../src/messages/message.js'
import { eventually, rejection } from '../kit.js'
import { CODE, message } from './queued-messages.js'

/** How the receiver responds: accepts, unknown recipient, refuses us, overloaded, no response. */
export type Answer = 'accept' | 'unknown recipient' | 'refused' | 'overloaded' | 'no response'

/** A carrier and its receiver. */
export interface OpenedCarrier {
  readonly carrier: Carrier
  /** The messages that arrived, with recipients and content. */
  readonly arrived: readonly { readonly to: readonly string[]; readonly content: string }[]
  /** Sets how the receiver responds from now on; absent if the receiver cannot refuse. */
  answer?(how: Answer): void
  /** Sets the raw HTTP answer from now on; absent for receivers without HTTP. */
  answerWith?(status: number, body: string, headers?: Readonly<Record<string, string>>): void
  /** The texts that no error may contain. */
  readonly secrets: readonly string[]
  close(): Promise<void>
}

/** The contract that every carrier fulfills. */
export function describeCarrier(
  name: string,
  channels: readonly Channel[],
  open: () => Promise<OpenedCarrier>,
): void {
  describe(`${name} as a carrier`, () => {
    let opened: OpenedCarrier
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(async () => {
      await opened.carrier.close?.()
      await opened.close()
    })
    const deliver = (one: ReturnType<typeof message>, timeoutMs = 5_000) =>
      opened.carrier.deliver(one, AbortSignal.timeout(timeoutMs))

    describe.each(channels)('by %s', (channel) => {
      test('hands one message with its code to exactly one recipient (R88)', async () => {
        const before = opened.arrived.length
        const one = message(channel)
        await deliver(one)
        const arrived = opened.arrived.slice(before)
        expect(arrived).toHaveLength(1)
        expect(arrived[0]?.to).toEqual([one.to])
        expect(arrived[0]?.content.replace(/\D/g, '')).toContain(CODE)
      })

      test('accepts nothing for more or less than one plain recipient (R88)', async () => {
        const { to } = message(channel)
        const other = channel === 'email' ? '+447700900123' : 'zoe@example.com'
        const before = opened.arrived.length
        for (const hostile of [
          ...[`${to},${to}`, `${to} ${to}`, `${to};${to}`, `<${to}>`, `Group: ${to};`, `"${to}"`],
          ...[`${to}\r\nBcc: b@example.com`, `${to}\n`, `${to}\0`, `${to}&To=${to}`, '', ' ', other],
        ]) {
          expect(await rejection(deliver(message(channel, { to: hostile }))), hostile).toMatchObject({
            name: 'DeliveryError',
            fault: 'contact',
          })
        }
        expect(opened.arrived).toHaveLength(before)
      })

      test('distinguishes the faults, and puts no secret, contact or code into the error', async () => {
        if (!opened.answer) return
        const one = message(channel)
        const faults = { 'unknown recipient': 'contact', refused: 'carrier', overloaded: 'outage' } as const
        for (const [how, fault] of Object.entries(faults)) {
          opened.answer(how as Answer)
          const error = await rejection(deliver(one))
          opened.answer('accept')
          expect(error, how).toMatchObject({ name: 'DeliveryError', fault })
          const text = inspect(error, { depth: 10, showHidden: true })
          for (const secret of [...opened.secrets, one.to, CODE]) expect(text, how).not.toContain(secret)
        }
      })

      test('survives every HTTP answer, follows no redirect, and reads Retry-After', async () => {
        if (!opened.answer || !opened.answerWith) return
        const faultAfter = async (status: number, body: string, headers: Record<string, string> = {}) => {
          opened.answerWith?.(status, body, headers)
          const error = await rejection(deliver(message(channel)))
          expect(error).toMatchObject({ name: 'DeliveryError' })
          return error as DeliveryError
        }
        const before = opened.arrived.length
        expect(await faultAfter(302, '', { location: '/elsewhere' })).toMatchObject({ fault: 'carrier' })
        expect(await faultAfter(400, '<html>{"errors":[')).toMatchObject({ fault: 'carrier' })
        expect(await faultAfter(400, '[null]')).toMatchObject({ fault: 'carrier' })
        expect(await faultAfter(400, 'x'.repeat(5_000_000))).toMatchObject({ fault: 'carrier' })
        for (const status of [401, 403, 404]) {
          expect(await faultAfter(status, '{}'), String(status)).toMatchObject({ fault: 'carrier' })
        }
        for (const status of [500, 502, 503, 504]) {
          expect(await faultAfter(status, '<html>'), String(status)).toMatchObject({ fault: 'outage' })
        }
        for (const status of [429, 503]) {
          const overloaded = await faultAfter(status, '', { 'retry-after': '7' })
          expect(overloaded).toMatchObject({ fault: 'outage', details: { retryAfterMs: 7_000 } })
        }
        expect(opened.arrived).toHaveLength(before)
        opened.answer('accept')
        await deliver(message(channel))
      })

      test('stops at its time limit, and works again afterwards', async () => {
        if (!opened.answer) return
        opened.answer('no response')
        const begun = performance.now()
        expect(await rejection(deliver(message(channel), 100))).toMatchObject({ fault: 'outage' })
        expect(performance.now() - begun).toBeLessThan(2_000)
        opened.answer('accept')
        const before = opened.arrived.length
        await deliver(message(channel))
        // On a slow machine the receiver may accept the first one only now.
        await eventually(() => expect(opened.arrived.length).toBeGreaterThan(before))
      })

      test('hands over 20 messages at once', async () => {
        const before = opened.arrived.length
        await Promise.all(Array.from({ length: 20 }, () => deliver(message(channel))))
        expect(opened.arrived).toHaveLength(before + 20)
      })
    })
  })
}
