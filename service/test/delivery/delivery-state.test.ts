import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import type { Application } from '../../src/accounts/application.js'
import { apiOver } from '../api-kit.js'
import {
  API_KEY,
  advance,
  type Bench,
  DeliveryError,
  freshEmail,
  freshPhone,
  freshTenant,
  listen,
  openBench,
  stopClock,
} from '../kit.js'

describe('the state of a delivery', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await openBench()
  })
  afterAll(() => bench.close())
  beforeEach(() => stopClock())
  afterEach(() => vi.useRealTimers())

  const challengeOf = (answer: object) => ('challenge' in answer ? String(answer.challenge) : 'none')

  test('is queued until a carrier accepts the message, then sent', async () => {
    const { mfa } = freshTenant(bench)
    bench.failNext(new DeliveryError('down', 'outage'))
    const challenge = challengeOf(await mfa.send({ method: 'sms', contact: freshPhone() }))
    const state = { channel: 'sms', to: expect.stringMatching(/^••• \d\d$/), carrier: 'recording' }
    expect(await mfa.deliveryOf?.({ challenge })).toEqual({
      ...state,
      status: 'queued',
      updatedAt: Date.now(),
    })
    advance(3)
    await bench.context.outbox.poll()
    expect(await mfa.deliveryOf?.({ challenge })).toEqual({ ...state, status: 'sent', updatedAt: Date.now() })
  })

  test('is that of the latest message when a code was sent again by another method', async () => {
    const { mfa } = freshTenant(bench)
    const contact = freshPhone()
    const challenge = challengeOf(await mfa.send({ method: 'sms', contact }))
    advance(30)
    bench.failNext(new DeliveryError('blocked', 'contact'))
    expect(await mfa.send({ method: 'call', contact, challenge })).toMatchObject({ outcome: 'refused' })
    expect(await mfa.deliveryOf?.({ challenge })).toMatchObject({ status: 'refused', channel: 'call' })
  })

  test('is the worse one of the two messages of DUAL', async () => {
    const { mfa } = freshTenant(bench)
    const contact = { kind: 'dual', email: freshEmail().email, phone: freshPhone().phone } as const
    bench.failNext(new DeliveryError('down', 'outage'))
    const answer = await mfa.send({ method: 'dual', contact })
    expect(answer).toMatchObject({ outcome: 'queued' })
    const challenge = challengeOf(answer)
    expect(await mfa.deliveryOf?.({ challenge })).toMatchObject({ status: 'queued' })
    bench.failNext(new DeliveryError('no such mailbox', 'contact'))
    advance(3)
    await bench.context.outbox.poll()
    expect(await mfa.deliveryOf?.({ challenge })).toMatchObject({ status: 'refused' })
  })

  test('expires with the code', async () => {
    const { mfa } = freshTenant(bench)
    bench.failNext(new DeliveryError('down', 'outage'))
    const challenge = challengeOf(await mfa.send({ method: 'sms', contact: freshPhone() }))
    advance(301)
    await bench.context.outbox.poll()
    expect(await mfa.deliveryOf?.({ challenge })).toMatchObject({ status: 'expired' })
  })

  describe('over HTTP', () => {
    const ask = async (application: Application, path: string, headers = {}, method = 'GET') => {
      const server = await listen(apiOver(bench.context, application))
      const authorization = `Bearer ${API_KEY}`
      const response = await fetch(`${server.url}${path}`, { method, headers: { authorization, ...headers } })
      const text = await response.text()
      await server.close()
      return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> }
    }

    test('shows status, channel, carrier and time, and the contact only masked (R41, R46)', async () => {
      const { mfa, application, lastCode } = freshTenant(bench)
      const contact = freshPhone()
      const challenge = challengeOf(await mfa.send({ method: 'sms', contact }))
      const { status, text, body } = await ask(application, `/v1/mfa/deliveries/${challenge}`)
      expect([status, body]).toEqual([
        200,
        {
          status: 'sent',
          channel: 'sms',
          to: `••• ${contact.phone.slice(-2)}`,
          carrier: 'recording',
          updated_at: new Date(Date.now()).toISOString(),
        },
      ])
      expect(text).not.toContain(contact.phone.slice(-5))
      expect(text).not.toContain(lastCode())
    })

    test('is only available to the application that owns the challenge (R86)', async () => {
      const ours = freshTenant(bench)
      const theirs = freshTenant(bench)
      const challenge = challengeOf(await ours.mfa.send({ method: 'sms', contact: freshPhone() }))
      const path = `/v1/mfa/deliveries/${challenge}`
      expect(await ask(theirs.application, path)).toMatchObject({ status: 404, body: { code: 'not_found' } })
      const keyless = await ask(ours.application, path, { authorization: 'Bearer wrong' })
      expect(keyless).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } })
    })

    test('responds with 404 for a challenge that it does not know', () =>
      everyCase(['nothing', '%00', '%F0%9F%94%91', "'--", 'x'.repeat(200), '..%2F..'], async (challenge) => {
        const { application } = freshTenant(bench)
        const { status } = await ask(application, `/v1/mfa/deliveries/${challenge}`)
        expect(status).toBe(404)
      }))

    test('can only be read, by GET (R14)', async () => {
      const { application } = freshTenant(bench)
      expect(await ask(application, '/v1/mfa/deliveries/x', {}, 'POST')).toMatchObject({ status: 405 })
    })
  })
})
