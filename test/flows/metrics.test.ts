import { describe, expect, it } from 'vitest'
import { eventMetrics } from '../../src/flows/metrics.js'
import { createMfa, type MfaEvent } from '../../src/index.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { host, signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'

/** A host whose events are recorded. */
function observedHost() {
  const events: MfaEvent[] = []
  const made = host({ options: { onEvent: (event) => void events.push(event) } })
  return {
    ...made,
    events,
    ofType: (type: MfaEvent['type']) => events.filter((event) => event.type === type),
  }
}

describe('events', () => {
  it('say whether a message was sent or queued, and whether it was sent again', async () => {
    const clock = stopClock()
    const { app, standIn, ofType } = observedHost()
    const agent = await signIn(app, 'bob')
    await challenge(agent, 'sms').expect(200)
    clock.move(30 * SECOND)
    const { send } = standIn.service
    standIn.service.send = async (request) => ({ ...(await send(request)), outcome: 'queued' })
    await challenge(agent, 'sms').expect(200)
    expect(ofType('challenged')).toMatchObject([
      { method: 'sms', delivery: 'sent', again: false },
      { method: 'sms', delivery: 'queued', again: true },
    ])
  })

  it('report a message that was not sent, and why', async () => {
    const { app, standIn, ofType } = observedHost()
    standIn.service.send = async () => ({ outcome: 'refused', refusal: { reason: 'delivery_failed' } })
    const agent = await signIn(app, 'bob')
    await challenge(agent, 'sms').expect(502)
    expect(ofType('refused')).toMatchObject([{ userId: 'u-bob', method: 'sms', code: 'delivery_failed' }])
    expect(ofType('challenged')).toEqual([])
  })

  it('measure the time from the first message to the right code', async () => {
    const clock = stopClock()
    const { app, standIn, ofType } = observedHost()
    const agent = await signIn(app, 'bob')
    clock.move(MINUTE)
    await challenge(agent, 'sms').expect(200)
    clock.move(40 * SECOND)
    await challenge(agent, 'sms').expect(200)
    clock.move(2 * SECOND)
    await verify(agent, standIn.newestCode()).expect(200)
    expect(ofType('verified')).toMatchObject([{ purpose: 'sign-in', afterMs: 42 * SECOND }])
  })

  it('measure the time from the first factor if no message was sent', async () => {
    const clock = stopClock()
    const { app, standIn, ofType } = observedHost()
    standIn.setApp('otto@example.com', '123456')
    const agent = await signIn(app, 'otto')
    clock.move(9 * SECOND)
    await verify(agent, '123456', { factor: 'app' }).expect(200)
    expect(ofType('verified')).toMatchObject([{ method: 'app', afterMs: 9 * SECOND }])
  })

  itWithSession('report a pending login once when it is canceled or found expired', async () => {
    const clock = stopClock()
    const { app, ofType } = observedHost()
    const one = await signIn(app, 'bob')
    await challenge(one, 'sms').expect(200)
    await one.post('/mfa/cancel').send({}).expect(200)
    const other = await signIn(app, 'alice')
    clock.move(10 * MINUTE)
    for (let request = 0; request < 3; request++) await other.get('/mfa')
    expect(ofType('pending_login_started')).toMatchObject([{ userId: 'u-bob' }, { userId: 'u-ali' }])
    expect(ofType('given_up').map(({ at: _at, ...event }) => event)).toEqual([
      { type: 'given_up', userId: 'u-bob', reason: 'canceled', method: 'sms' },
      { type: 'given_up', userId: 'u-ali', reason: 'expired' },
    ])
  })

  it('report no pending login of a user without a second factor', async () => {
    const { app, events } = observedHost()
    await signIn(app, 'nina')
    expect(events).toEqual([])
  })
})

describe('metrics of createMfa', () => {
  it('counts what happened in this process, even without onEvent', async () => {
    const clock = stopClock()
    const { app, mfa, standIn } = host()
    for (const [seconds, wrong] of [
      [10, 1],
      [20, 0],
    ] as const) {
      const agent = await signIn(app, 'bob')
      await challenge(agent, 'sms').expect(200)
      for (let guess = 0; guess < wrong; guess++) await verify(agent, '000000')
      clock.move(seconds * SECOND)
      await verify(agent, standIn.newestCode()).expect(200)
    }
    const leaving = await signIn(app, 'alice')
    await challenge(leaving, 'app').expect(200)
    await leaving.post('/mfa/cancel').send({}).expect(200)
    standIn.setTrouble(standIn.down)
    const unlucky = await signIn(app, 'dora')
    await challenge(unlucky, 'dual').expect(503)

    const metrics = createMfa(mfa).metrics()
    expect(metrics).toMatchObject({
      pendingLogins: 4,
      challenged: { sms: 2, app: 1, email: 0, dual: 0, backup: 0 },
      sent: { sms: 2, app: 0 },
      verified: { sms: 2, app: 0 },
      givenUp: { app: 1, sms: 0, none: 0 },
      refused: { invalid_code: 1 },
      locked: 0,
      serviceFailures: 1,
      timeToVerify: { count: 2, meanMs: 15 * SECOND, medianMs: 10 * SECOND, p95Ms: 20 * SECOND },
    })
    expect(createMfa(mfa).metrics()).toEqual(metrics)
  })

  it('counts for one options object', async () => {
    const [one, other] = [host(), host()]
    await signIn(one.app, 'bob')
    expect(createMfa(one.mfa).metrics().pendingLogins).toBe(1)
    expect(createMfa(other.mfa).metrics().pendingLogins).toBe(0)
  })

  it('remembers the last thousand times, and no more', () => {
    const counter = eventMetrics()
    const verified = (afterMs: number) =>
      counter.record({ type: 'verified', userId: 'u', at: 0, method: 'app', purpose: 'sign-in', afterMs })
    expect(counter.read().timeToVerify).toEqual({ count: 0, meanMs: 0, medianMs: 0, p95Ms: 0 })
    for (let nth = 0; nth < 5_000; nth++) verified(1_000_000)
    for (let nth = 1; nth <= 1_000; nth++) verified(nth)
    expect(counter.read().timeToVerify).toEqual({ count: 6_000, meanMs: 501, medianMs: 500, p95Ms: 950 })
  })
})
