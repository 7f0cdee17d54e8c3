import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { operator } from '../src/operator/operator.js'
import { deleteExpired } from '../src/operator/retention.js'
import { leaseOf } from '../src/operator/sweeper.js'
import { getSlot, slotTable } from '../src/store/outbox-slots.js'
import { describeOnBothDatabases } from './both-databases.js'
import {
  advance,
  DeliveryError,
  freshEmail,
  freshPhone,
  freshTenant,
  stopClock,
  type Tenant,
  wrong,
} from './kit.js'

const DAY = 86_400

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnBothDatabases((bench, database) => {
  const rows = async ({ application }: Tenant, table: string, where = 'true') =>
    (
      await bench().store.query(`SELECT 1 FROM ${table} WHERE application = $1 AND ${where}`, [
        application.id,
      ])
    ).length

  test('deletes challenges, budgets, failures and messages after their retention period, not before', async () => {
    const tenant = freshTenant(bench())
    const { mfa, lastCode } = tenant
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    await mfa.verify({ method: 'sms', contact, kind: 'code', code: wrong(lastCode()) })
    const counts = async () => ({
      challenge: await rows(tenant, 'challenge'),
      budget: await rows(tenant, 'budget'),
      failures: await rows(tenant, 'account', "failures <> '[]'"),
      daily: await rows(tenant, 'daily_budget'),
      outbox: await rows(tenant, 'outbox'),
    })
    const all = { challenge: 1, budget: 2, failures: 1, daily: 1, outbox: 1 }
    advance(DAY - 1)
    await deleteExpired(bench().store)
    expect(await counts()).toEqual(all)
    advance(302)
    await deleteExpired(bench().store)
    expect(await counts()).toEqual({ ...all, challenge: 0, budget: 0, failures: 0 })
    advance(7 * DAY)
    await deleteExpired(bench().store)
    expect(await counts()).toEqual({ challenge: 0, budget: 0, failures: 0, daily: 0, outbox: 0 })
  })

  test.skipIf(database !== 'PostgreSQL')(
    'finds what it deletes by an index, and reads nothing else',
    async () => {
      const { store } = bench()
      const rowsOf = 'SELECT $1, n::text FROM generate_series(1, 20000) AS n'
      const plan = 'plan-of-sweep'
      for (const fill of [
        `INSERT INTO idempotent_request (application, key, request, claim, claimed_until, expires_at)
         SELECT application, key, '', '', 0, 0 FROM (${rowsOf}) AS filled (application, key)`,
        `INSERT INTO budget (application, scope, key, last_hour, times)
         SELECT application, 'account', key, 0, '{}' FROM (${rowsOf}) AS filled (application, key)`,
      ])
        await store.query(fill, [plan])
      await store.query('ANALYZE idempotent_request')
      await store.query('ANALYZE budget')
      const plans: string[] = []
      const query: typeof store.query = async (text, params) => {
        if (/^DELETE FROM (idempotent_request|budget)/.test(text.trim())) {
          const lines = await store.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, params)
          plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'))
        }
        return store.background.query(text, params)
      }
      await deleteExpired({ ...store, background: { ...store.background, query } })
      expect(plans.length).toBeGreaterThan(40)
      for (const text of plans.slice(0, 15)) {
        expect(text).toContain('Tid Scan')
        expect(text).toContain('Index Scan')
        expect(text).not.toContain('Seq Scan')
      }
      expect(await store.query('SELECT FROM budget WHERE application = $1', [plan])).toEqual([])
    },
  )

  test.skipIf(database !== 'PostgreSQL')(
    'erases the name of a user from the audit log by an index',
    async () => {
      const { store, context } = bench()
      const name = 'audited-users'
      await operator(store, 'ann').createApplication(name)
      await store.query(
        `INSERT INTO audit (application, at, who, action, detail)
         SELECT $1, 0, 'ann', 'factor.disabled', 'PHONE of user ' || n FROM generate_series(1, 20000) AS n`,
        [name],
      )
      await store.query('ANALYZE audit')
      const plans: string[] = []
      const watched: typeof store = {
        ...store,
        transaction: (work) =>
          store.transaction((tx) =>
            work({
              async query(text, params) {
                if (text.startsWith('UPDATE audit')) {
                  const lines = await tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, params)
                  plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'))
                }
                return tx.query(text, params)
              },
            }),
          ),
      }
      const ann = operator(watched, 'ann', { keys: () => context.keys })
      await ann.eraseUser({ application: name, mode: 'live', user: 'user 777', isAccount: true })
      expect(plans).toEqual([expect.stringMatching(/Index Cond: .*reverse\(detail\) ~>=~/)])
      const details = await store.query<{ detail: string }>(
        "SELECT detail FROM audit WHERE application = $1 AND detail NOT LIKE 'PHONE of user %' AND action = 'factor.disabled'",
        [name],
      )
      expect(details).toEqual([
        expect.objectContaining({ detail: expect.stringMatching(/^PHONE of account \w+$/) }),
      ])
    },
  )

  test('keeps the lock of an account, its failure counts and its factors (R26, R28)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    const prepared = await tenant.mfa.enrollApp({ contact })
    await tenant.mfa.sendBackupCodes({ method: 'sms', contact })
    for (let i = 0; i < 10; i++)
      await tenant.mfa.verify({ method: 'app', contact, kind: 'code', code: '000000' })
    advance(60 * DAY)
    await deleteExpired(bench().store)
    expect(prepared.outcome).toBe('prepared')
    const kept = ['account', 'factor', 'app_secret', 'backup_set', 'backup_code']
    const counts = await Promise.all(kept.map((table) => rows(tenant, table)))
    expect(counts).toEqual([1, 1, 1, 1, 10])
    expect(await rows(tenant, 'account', 'lock_level = 1')).toBe(1)
  })

  test('does not delete a queued message, however old', async () => {
    const tenant = freshTenant(bench())
    bench().failNext(new DeliveryError('down', 'outage'))
    await tenant.mfa.send({ method: 'email', contact: freshEmail() })
    advance(60 * DAY)
    await deleteExpired(bench().store)
    expect(await rows(tenant, 'outbox')).toBe(1)
  })

  test('deletes everything in one run: the next run finds nothing', async () => {
    const tenant = freshTenant(bench())
    await tenant.mfa.send({ method: 'sms', contact: freshPhone() })
    advance(2 * DAY)
    expect((await deleteExpired(bench().store)).challenge).toBeGreaterThan(0)
    expect((await deleteExpired(bench().store)).challenge).toBe(0)
  })

  test('leaves nothing of wrong codes for users that it does not know, and keeps what it knows of others', async () => {
    const { mfa, lastCode, ...tenant } = freshTenant(bench())
    const known = freshEmail()
    await mfa.send({ method: 'email', contact: known })
    const right = { method: 'email', contact: known, kind: 'code', code: lastCode() } as const
    expect((await mfa.verify(right)).outcome).toBe('valid')
    for (const contact of [known, freshEmail(), freshPhone()]) {
      await mfa.verify({ method: 'app', contact, kind: 'code', code: '000000' })
      await mfa.verify({ method: 'sms', contact: freshPhone(), kind: 'backup', code: 'AAAABBBBCCCCDDDD' })
    }
    const counts = async () => ({
      account: await rows({ mfa, lastCode, ...tenant }, 'account'),
      factor: await rows({ mfa, lastCode, ...tenant }, 'factor'),
    })
    expect(await counts()).toEqual({ account: 6, factor: 6 })
    advance(DAY - 1)
    await deleteExpired(bench().store)
    expect(await counts()).toEqual({ account: 6, factor: 6 })
    advance(2)
    await deleteExpired(bench().store)
    expect(await counts()).toEqual({ account: 1, factor: 1 })
  })

  test('deletes messages by emptying their partition', async () => {
    const tenant = freshTenant(bench())
    // No other test wrote messages in these days.
    advance(400 * DAY)
    const table = slotTable(getSlot(Date.now()))
    const size = async () => {
      const { store } = bench()
      const sizes = await store.query<{ bytes: number }>('SELECT pg_relation_size($1::regclass) AS bytes', [
        `${store.schema}.${table}`,
      ])
      return sizes[0]?.bytes
    }
    await tenant.mfa.send({ method: 'sms', contact: freshPhone() })
    expect(await size()).toBeGreaterThan(0)
    advance(7 * DAY)
    await deleteExpired(bench().store)
    expect(await rows(tenant, 'outbox')).toBe(1)
    advance(1)
    await deleteExpired(bench().store)
    expect([await rows(tenant, 'outbox'), await size()]).toEqual([0, 0])
  })

  test('is done by one process at a time, and by another one if that dies', async () => {
    const [one, other] = ['one', 'other'].map((holder) => leaseOf(bench().store, 'test', holder))
    expect([await one?.acquire(60_000), await other?.acquire(60_000)]).toEqual([true, false])
    advance(59)
    expect([await one?.acquire(60_000), await other?.acquire(60_000)]).toEqual([true, false])
    advance(60)
    expect([await other?.acquire(60_000), await one?.acquire(60_000)]).toEqual([true, false])
    await other?.release(5_000)
    advance(4.999)
    expect(await one?.acquire(60_000)).toBe(false)
    advance(0.001)
    expect(await one?.acquire(60_000)).toBe(true)
  })

  // The embedded database has one connection, so no other one can lock a row.
  if (database === 'PostgreSQL') {
    test('skips a row that another connection has locked, and deletes it in the next run', async () => {
      const tenant = freshTenant(bench())
      await tenant.mfa.send({ method: 'sms', contact: freshPhone() })
      await tenant.mfa.send({ method: 'sms', contact: freshPhone() })
      await tenant.mfa.verify({ method: 'app', contact: freshPhone(), kind: 'code', code: '000000' })
      advance(9 * DAY)
      const deletable = { challenge: 'true', outbox: 'true', budget: 'true', account: "failures <> '[]'" }
      const left = async () => {
        const counts = Object.entries(deletable).map(async ([table, where]) => [
          table,
          await rows(tenant, table, where),
        ])
        return Object.fromEntries(await Promise.all(counts))
      }
      await bench().store.transaction(async (holder) => {
        for (const [table, where] of Object.entries(deletable)) {
          await holder.query(`SELECT FROM ${table} WHERE application = $1 AND ${where} LIMIT 1 FOR UPDATE`, [
            tenant.application.id,
          ])
        }
        await deleteExpired(bench().store)
        expect(await left()).toEqual({ challenge: 1, outbox: 1, budget: 1, account: 1 })
      })
      await deleteExpired(bench().store)
      expect(await left()).toEqual({ challenge: 0, outbox: 0, budget: 0, account: 0 })
    })
  }

  test('deletes more than one batch in one run', async () => {
    const tenant = freshTenant(bench())
    await bench().store.query(
      `INSERT INTO budget (application, scope, key, times)
       SELECT $1, 'destination', n::text, ARRAY[1::bigint] FROM generate_series(1, 2500) AS n`,
      [tenant.application.id],
    )
    expect((await deleteExpired(bench().store)).budget).toBeGreaterThanOrEqual(2_500)
    expect(await rows(tenant, 'budget')).toBe(0)
  })

  test('keeps delivered backup codes valid when the record of their message is deleted (R61)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    bench().failNext(new DeliveryError('down', 'outage'))
    expect(await tenant.mfa.sendBackupCodes({ method: 'email', contact })).toMatchObject({
      outcome: 'queued',
    })
    advance(60)
    await bench().context.outbox.poll()
    const code = tenant.sent().find((message) => message.codes)?.codes?.[0] ?? ''
    advance(30 * DAY)
    await deleteExpired(bench().store)
    expect(await rows(tenant, 'outbox')).toBe(0)
    const answer = await tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    expect(answer.outcome).toBe('valid')
  })
})
