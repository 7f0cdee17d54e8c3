import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ACTIVITY_COUNTS } from '../src/messages/activity/activity-table.js'
import { activityCounter } from '../src/messages/activity/count-activity.js'
import { recordReport } from '../src/messages/delivery/report-table.js'
import type { ActivityFilter, ActivityGroup } from '../src/operator/activity.js'
import { operator } from '../src/operator/operator.js'
import { deleteExpired } from '../src/operator/retention.js'
import { getPartition } from '../src/store/partition.js'
import type { Store } from '../src/store/store.js'
import { describeOnBothDatabases } from './both-databases.js'
import { advance, DeliveryError, freshEmail, freshTenant, stopClock, type Tenant, wrong } from './kit.js'

const DAY = 86_400

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnBothDatabases((bench) => {
  const desk = () => operator(bench().store, 'ann')
  /** An application that exists in the store, so that an operator can name it. */
  const storedTenant = async (settings: Parameters<typeof freshTenant>[1] = {}) => {
    const tenant = freshTenant(bench(), settings)
    await desk().createApplication(tenant.application.id)
    return tenant
  }
  const show = async (tenant: Tenant | undefined, period: ActivityFilter['period'] = 'hour') => {
    await bench().context.activity.flush()
    return desk().showActivity({ application: tenant?.application.id, period })
  }
  /** The counts that are not 0, such as `sms: sent 2, typed 1`. */
  const texts = (groups: readonly ActivityGroup[]) =>
    groups.map((group) => {
      const counts = ACTIVITY_COUNTS.flatMap((count) =>
        group[count] === 0 ? [] : [`${count} ${group[count]}`],
      )
      return `${group.name}: ${counts.join(', ')}`
    })
  const signIn = async ({ mfa, lastCode }: Tenant, phone: string, code = lastCode) => {
    const contact = { kind: 'phone', phone } as const
    await mfa.send({ method: 'sms', contact })
    return mfa.verify({ method: 'sms', contact, kind: 'code', code: code() })
  }

  test('counts what is sent, reported, typed and wrong by method, country and carrier', async () => {
    const tenant = await storedTenant()
    const { mfa, lastCode, sent, application } = tenant
    await signIn(tenant, '+447400123456')
    await signIn(tenant, '+4915123456789', () => wrong(lastCode()))
    const contact = freshEmail()
    bench().failNext(new DeliveryError('No such mailbox.', 'contact', { contact: 'unknown' }))
    await mfa.send({ method: 'email', contact })
    const { store } = bench()
    for (const outcome of ['delivered', 'failed'] as const) {
      const report = { application: application.id, id: sent()[0]?.id ?? '', outcome }
      const reported = await recordReport(store, report, Date.now())
      expect(reported).toEqual({ channel: 'sms', country: 'GB', carrier: 'recording' })
      expect(await recordReport(store, report, Date.now())).toBeUndefined()
    }
    await mfa.verify({ method: 'app', contact, kind: 'code', code: '000000' })
    const report = await show(tenant)
    expect(texts(report.methods)).toEqual([
      'sms: sent 2, codes 2, typed 1, wrong 1',
      'app: wrong 1',
      'email: failed 1',
    ])
    expect(texts(report.countries)).toEqual(['DE: sent 1, codes 1, wrong 1', 'GB: sent 1, codes 1, typed 1'])
    expect(texts(report.carriers)).toEqual(['recording: sent 2, codes 2, failed 1, typed 1, wrong 1'])
    expect(report.steps).toHaveLength(12)
    expect(report.steps.at(-1)).toMatchObject({ startsAt: Date.now(), sent: 2, wrong: 2, failed: 1 })
  })

  test('counts a lock once, a code to two contacts for each of them, and nothing of test keys', async () => {
    const tenant = await storedTenant({ notices: [], limits: { failuresBeforeLock: 5 } })
    const contact = { kind: 'dual', email: freshEmail().email, phone: '+447400123457' } as const
    await tenant.mfa.send({ method: 'dual', contact })
    for (let attempt = 0; attempt < 5; attempt++) {
      await tenant.mfa.verify({ method: 'dual', contact, kind: 'code', code: wrong(tenant.lastCode()) })
    }
    const counts = 'sent 1, codes 1, wrong 5, locked 1'
    expect(texts((await show(tenant)).methods)).toEqual([`email: ${counts}`, `sms: ${counts}`])
    const { id } = tenant.application
    const test = freshTenant(bench(), { id: getPartition({ application: id, mode: 'test' }), mode: 'test' })
    await signIn(test, '+447400123456', () => '000000')
    expect(texts((await show(tenant)).methods)).toEqual([`email: ${counts}`, `sms: ${counts}`])
  })

  test('sums up over all applications, and warns where few codes are typed or many fewer than before', async () => {
    const before = texts((await show(undefined)).countries).find((text) => text.startsWith('FR'))
    expect(before).toBeUndefined()
    const tenant = await storedTenant({ limits: { minConversionPercent: 0 } })
    const send = async (count: number, typed: number) => {
      for (let i = 0; i < count; i++) {
        await signIn(
          tenant,
          `+336123${String(i).padStart(5, '0')}`,
          i < typed ? tenant.lastCode : () => 'XXXXXX',
        )
        advance(1)
      }
    }
    await send(20, 20)
    advance(3_600)
    await send(20, 8)
    const { countries } = await show(undefined)
    const france = countries.find(({ name }) => name === 'FR')
    expect(france).toMatchObject({ codes: 20, typed: 8, percent: 40, percentBefore: 100, conversion: 'low' })
    expect((await show(tenant, 'day')).countries[0]).toMatchObject({
      codes: 40,
      percent: 70,
      conversion: 'fine',
    })
  })

  test('compares the last hour with the same hour of last week, and says what is worse', async () => {
    advance(200 * DAY)
    const tenant = await storedTenant({ limits: { minConversionPercent: 0 } })
    const send = async (count: number, typed: number) => {
      for (let i = 0; i < count; i++) {
        const phone = `+4474001${String(i).padStart(5, '0')}`
        await signIn(tenant, phone, i < typed ? tenant.lastCode : () => 'XXXXXX')
        advance(1)
      }
    }
    const lastHour = async () => {
      await bench().context.activity.flush()
      return desk().showLastHour()
    }
    expect(await lastHour()).toMatchObject({ now: { sent: 0 }, before: null, worse: [] })
    await send(40, 40)
    await tenant.mfa.verify({ method: 'app', contact: freshEmail(), kind: 'code', code: '000000' })
    expect(await lastHour()).toMatchObject({
      ...{ now: { sent: 40, typed: 40, wrong: 0 }, before: null, worse: [] },
    })
    for (const days of [3, 3]) {
      advance(days * DAY)
      await deleteExpired(bench().store)
    }
    // Half of an hour of last week was over at this time of the day.
    advance(DAY + 30 * 60 - 40)
    expect(await lastHour()).toMatchObject({
      now: { sent: 0 },
      before: { sent: 20, typed: 20 },
      worse: ['sent'],
    })
    advance(29 * 60)
    await send(20, 9)
    expect(await lastHour()).toMatchObject({
      now: { sent: 20, typed: 9 },
      before: { sent: 40 },
      worse: ['typed'],
    })
    const faults = Array.from(
      { length: 5 },
      () => new DeliveryError('No such number.', 'contact', { contact: 'unknown' }),
    )
    bench().failNext(...faults)
    for (const digit of [1, 2, 3, 4, 5]) {
      await tenant.mfa.send({ method: 'sms', contact: { kind: 'phone', phone: `+44740020000${digit}` } })
    }
    expect((await lastHour()).worse).toEqual(['typed', 'failed'])
    advance(2 * DAY)
    await deleteExpired(bench().store)
    expect(await lastHour()).toMatchObject({ now: { sent: 0 }, before: null })
  })

  test('moves counts to hours and days as they age, without changing a sum, and deletes them after 92 days', async () => {
    const tenant = await storedTenant()
    const { store } = bench()
    const rows = async () =>
      (
        await store.query<{ starts_at: number }>(
          'SELECT DISTINCT starts_at FROM activity WHERE application = $1 ORDER BY starts_at',
          [tenant.application.id],
        )
      ).map(({ starts_at }) => new Date(starts_at).toISOString().slice(11, 16))
    for (const minutes of [0, 7, 50, 10]) {
      advance(minutes * 60)
      await signIn(tenant, '+447400123456')
    }
    await show(tenant)
    expect(await rows()).toEqual(['12:00', '12:05', '12:55', '13:05'])
    advance(2 * 3_600)
    await deleteExpired(store)
    expect(await rows()).toEqual(['12:00', '13:05'])
    expect((await show(tenant, 'day')).steps.map(({ sent }) => sent).filter(Boolean)).toEqual([3, 1])
    advance(3 * DAY)
    await deleteExpired(store)
    expect(await rows()).toEqual(['00:00'])
    const month = await show(tenant, 'month')
    expect(month.steps.at(-4)).toMatchObject({ sent: 4, codes: 4, typed: 4 })
    advance(88 * DAY)
    await deleteExpired(store)
    expect(await rows()).toEqual(['00:00'])
    advance(2 * DAY)
    await deleteExpired(store)
    expect(await rows()).toEqual([])
  })

  test('keeps what it counted while the database does not answer, and adds it once', async () => {
    const tenant = await storedTenant()
    const { store, events } = bench()
    let fails = true
    const background: Store['background'] = {
      ...store.background,
      query: (...statement) =>
        fails ? Promise.reject(new Error('The database is gone.')) : store.background.query(...statement),
    }
    const logged: string[] = []
    const counter = activityCounter({ ...store, background }, ({ event }) => void logged.push(event))
    const activity = { application: tenant.application.id, method: 'app', country: '', carrier: '' }
    counter.record(activity, ['typed'])
    await counter.flush()
    expect(logged).toEqual(['activity.not_recorded'])
    counter.record(activity, ['wrong'])
    fails = false
    await counter.flush()
    await counter.close()
    expect(texts((await show(tenant)).methods)).toEqual(['app: typed 1, wrong 1'])
    expect(events.filter(({ event }) => event === 'activity.not_recorded')).toEqual([])
  })

  test('adds a count to the sum over all applications once, also when a later part of a large write fails', async () => {
    const { store } = bench()
    const answers = [true, false]
    const background: Store['background'] = {
      ...store.background,
      query: (...statement) =>
        (answers.shift() ?? true)
          ? store.background.query(...statement)
          : Promise.reject(new Error('The database is gone.')),
    }
    const counter = activityCounter({ ...store, background }, () => {})
    for (let n = 0; n < 1_500; n++) {
      counter.record({ application: `many-${n}`, method: 'app', country: '', carrier: 'parts' }, ['typed'])
    }
    await counter.flush()
    await counter.close()
    const total = (applications: string) =>
      store.query(
        `SELECT sum(typed)::integer AS typed FROM activity WHERE carrier = 'parts' AND application ${applications}`,
      )
    expect(await total("<> ''")).toEqual([{ typed: 1_500 }])
    expect(await total("= ''")).toEqual([{ typed: 1_500 }])
  })
})
