import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { operator } from '../src/operator/operator.js'
import { describeOnBothDatabases } from './both-databases.js'
import {
  advance,
  DeliveryError,
  eventually,
  freshEmail,
  freshPhone,
  freshTenant,
  rejection,
  stopClock,
  type Tenant,
  wrong,
} from './kit.js'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnBothDatabases((bench) => {
  const desk = () => operator(bench().store, 'ann', { keys: () => bench().context.keys })
  const storedTenant = async () => {
    const tenant = freshTenant(bench(), { limits: { failuresBeforeLock: 5 }, notices: [] })
    await desk().createApplication(tenant.application.id)
    return { ...tenant, data: { application: tenant.application.id, mode: 'live' } as const }
  }
  async function lock({ mfa, lastCode }: Tenant, account: string) {
    const contact = freshEmail()
    await mfa.send({ method: 'email', contact, account })
    for (let attempt = 0; attempt < 5; attempt++) {
      await mfa.verify({ method: 'email', contact, account, kind: 'code', code: wrong(lastCode()) })
    }
  }

  test('unlocks the accounts that were counted, and none that was locked later', async () => {
    const tenant = await storedTenant()
    const other = await storedTenant()
    await lock(other, 'of another application')
    for (const account of ['user 1', 'user 2']) await lock(tenant, account)
    const seen = await desk().listLocked(tenant.data)
    expect([seen.count, seen.users.map(({ shown }) => shown).sort()]).toEqual([2, ['user 1', 'user 2']])
    const lockedBy = Date.now()
    advance(1)
    await lock(tenant, 'user 3')
    expect(await desk().unlockUsers({ ...tenant.data, lockedBy })).toBe(2)
    expect((await desk().listLocked(tenant.data)).users.map(({ shown }) => shown)).toEqual(['user 3'])
    expect((await desk().listLocked(other.data)).count).toBe(1)
    expect((await rejection(desk().unlockUsers({ ...tenant.data, lockedBy }))).message).toContain('any more')
    expect(await desk().listAudit({ application: tenant.application.id, limit: 1 })).toMatchObject([
      { actor: 'ann', action: 'users.unlocked', detail: '2 accounts' },
    ])
    advance(86_400)
    expect(await desk().listLocked(tenant.data)).toEqual({ count: 0, users: [] })
  })

  test('sends the messages that were counted now, and none that failed later or went another way', async () => {
    const tenant = await storedTenant()
    const waiting = async (method: 'email' | 'sms') => {
      bench().failNext(new DeliveryError('The carrier is down.', 'outage', { retryAfterMs: 120_000 }))
      const contact = method === 'email' ? freshEmail() : freshPhone()
      await tenant.mfa.send(
        contact.kind === 'email' ? { method: 'email', contact } : { method: 'sms', contact },
      )
    }
    for (let message = 0; message < 3; message++) await waiting('sms')
    await waiting('email')
    const sms = { ...tenant.data, channel: 'sms' }
    expect([await desk().countWaiting(tenant.data), await desk().countWaiting(sms)]).toEqual([4, 3])
    expect(await desk().countWaiting({ ...sms, carrier: 'another' })).toBe(0)
    const counted = { ...sms, attemptedBy: Date.now() }
    advance(1)
    await waiting('sms')
    expect(await desk().retryMessages(counted)).toBe(3)
    await eventually(() => expect(tenant.sent('sms')).toHaveLength(3))
    expect(tenant.sent('email')).toHaveLength(0)
    expect([await desk().countWaiting(tenant.data), await desk().countWaiting(sms)]).toEqual([2, 1])
    expect((await rejection(desk().retryMessages(counted))).message).toContain('No such message')
    expect(await desk().listAudit({ application: tenant.application.id, limit: 1 })).toMatchObject([
      { action: 'messages.retried', detail: '3 messages, sms' },
    ])
  })

  test('repeats the events of an endpoint that were given up, and no test', async () => {
    const tenant = await storedTenant()
    const { application } = tenant.data
    const endpoint = 'ep_1'
    const { store } = bench()
    await store.query(
      "INSERT INTO event_endpoint (application, id, url, types, sealed, created_at, paused_at) VALUES ($1, $2, 'https://example.com/', '{}', '', 0, 0)",
      [application, endpoint],
    )
    await store.query(
      `INSERT INTO event_delivery (application, endpoint, id, type, data, created_at, attempted_at, due_at, state, attempts)
       SELECT $1, $2, 'evt_' || n, CASE WHEN n = 9 THEN 'webhook.test' ELSE 'user.locked' END, '{}', n, n, 0,
         CASE WHEN n > 6 THEN 'failed' ELSE 'delivered' END, 8
       FROM generate_series(1, 11) AS n`,
      [application, endpoint],
    )
    const reference = { application, endpoint }
    expect(await desk().events.list(application)).toMatchObject([{ givenUp: 4 }])
    expect(await desk().events.resendGivenUp(reference, 10)).toBe(3)
    expect(await desk().events.list(application)).toMatchObject([{ givenUp: 1 }])
    const rows = await store.query<{ id: string }>(
      "SELECT id FROM event_delivery WHERE application = $1 AND state = 'queued' AND attempts = 0 ORDER BY created_at",
      [application],
    )
    expect(rows.map(({ id }) => id)).toEqual(['evt_7', 'evt_8', 'evt_10'])
    expect((await rejection(desk().events.resendGivenUp(reference, 10))).message).toContain('given up')
  })
})
