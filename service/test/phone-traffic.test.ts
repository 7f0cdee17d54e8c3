import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { completeLimits } from '../src/accounts/limits.js'
import { serviceMetrics } from '../src/api/metrics/metrics.js'
import { showActivity } from '../src/operator/activity.js'
import { ceilingWatch, diagnoseCeilings } from '../src/operator/daily-ceilings.js'
import { diagnoseTraffic } from '../src/operator/diagnose-sending.js'
import { operator } from '../src/operator/operator.js'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import { describeOnBothDatabases } from './both-databases.js'
import {
  advance,
  appCode,
  eventually,
  freshEmail,
  freshTenant,
  rejection,
  stopClock,
  type Tenant,
  wrong,
} from './kit.js'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnBothDatabases((bench) => {
  let numbers = 0
  /** A new mobile number of the United Kingdom; equal prefixes share all but the last four digits. */
  const phoneOf = (prefix: string) => `${prefix}${String(++numbers % 10_000).padStart(4, '0')}`
  const send = ({ mfa }: Tenant, phone: string, method: 'sms' | 'call' | 'whatsapp' = 'sms') =>
    mfa.send({ method, contact: { kind: 'phone', phone } })
  const outcomeOf = async (sent: ReturnType<typeof send>) => {
    const answer = await sent
    return answer.outcome === 'refused' ? answer.refusal.reason : answer.outcome
  }
  const eventsOf = ({ application }: Tenant) =>
    bench().events.flatMap(({ event, application: of }) =>
      of === application.id && event.startsWith('traffic.') ? [event] : [],
    )
  const counts = async (tenant: Tenant, key: string) => {
    const [row] = await bench().store.query<{ sent: number; typed: number }>(
      'SELECT sent, typed FROM phone_traffic WHERE application = $1 AND key = $2',
      [tenant.application.id, key],
    )
    return row
  }
  /** Sends a code, and types it. */
  const signIn = async (tenant: Tenant, phone: string) => {
    expect(await outcomeOf(send(tenant, phone))).toBe('sent')
    const contact = { kind: 'phone', phone } as const
    const before = (await counts(tenant, phone.slice(0, -4)))?.typed ?? 0
    expect(
      await tenant.mfa.verify({ method: 'sms', contact, kind: 'code', code: tenant.lastCode() }),
    ).toEqual({
      outcome: 'valid',
    })
    await eventually(async () => expect((await counts(tenant, phone.slice(0, -4)))?.typed).toBe(before + 1))
  }
  /** An application that exists in the store, so that an operator can name it. */
  const storedTenant = async (limits: Parameters<typeof freshTenant>[1] = {}) => {
    const tenant = freshTenant(bench(), limits)
    await operator(bench().store, 'ann').createApplication(tenant.application.id)
    return tenant
  }

  test('codes to one country that are requested at once share statements, and its hour counts exactly (R103)', async () => {
    const tenant = await storedTenant({ limits: { sendsPerCountryHour: 45 } })
    const full = phoneOf('+44740077')
    for (let i = 0; i < 5; i++) expect(await outcomeOf(send(tenant, full))).toBe('sent')
    const atOnce = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        // The number whose own hour is used up takes nothing from the others.
        outcomeOf(send(tenant, i === 1 ? full : phoneOf(`+4474009${i % 10}`))),
      ),
    )
    expect(atOnce[1]).toBe('limited')
    expect(atOnce.filter((outcome) => outcome === 'sent')).toHaveLength(40)
    expect(await counts(tenant, 'GB')).toMatchObject({ sent: 45 })
    const [row] = await bench().store.query<{ statements: number }>(
      'SELECT count(DISTINCT xmin::text)::integer AS statements FROM challenge WHERE application = $1',
      [tenant.application.id],
    )
    expect(row?.statements).toBeLessThan(25)
  })

  test('of 40 numbers of one prefix in a row, 20 get a code; three minutes later the prefix is paused (R103)', async () => {
    const tenant = await storedTenant()
    const outcomes: string[] = []
    for (let i = 0; i < 40; i++) outcomes.push(await outcomeOf(send(tenant, phoneOf('+44740012'))))
    expect(outcomes).toEqual([...Array(20).fill('sent'), ...Array(20).fill('limited')])
    expect(eventsOf(tenant)).toEqual(['traffic.untyped'])
    // Another prefix of the same country is not affected.
    expect(await outcomeOf(send(tenant, phoneOf('+44740099')))).toBe('sent')
    advance(179)
    expect(await outcomeOf(send(tenant, phoneOf('+44740012')))).toBe('limited')
    advance(1)
    expect(await outcomeOf(send(tenant, phoneOf('+44740012')))).toBe('contact_refused')
    for (const method of ['sms', 'call', 'whatsapp'] as const) {
      expect(await outcomeOf(send(tenant, phoneOf('+44740012'), method))).toBe('contact_refused')
    }
    expect(eventsOf(tenant)).toEqual(['traffic.untyped', 'traffic.paused'])
    const { id } = tenant.application
    const warnings = (
      await diagnoseTraffic(bench().store, await showActivity(bench(), { period: 'day' }), Date.now())
    ).map(({ message }) => message)
    expect(warnings).toContain(
      `"${id}" sends nothing to phones of +44740012: traffic show ${id} shows why, traffic resume ends a pause.`,
    )
    // A pause lasts until an operator ends it.
    advance(7 * 86_400)
    expect(await outcomeOf(send(tenant, phoneOf('+44740012')))).toBe('contact_refused')
    const ann = operator(bench().store, 'ann')
    expect((await ann.showTraffic(id))[0]).toMatchObject({ destination: '+44740012', typed: 0 })
    await ann.resumeTraffic(id, '+44740012')
    expect(await outcomeOf(send(tenant, phoneOf('+44740012')))).toBe('sent')
    const audit = await ann.listAudit({ application: id, limit: 2 })
    expect(audit).toMatchObject([
      { actor: 'ann', action: 'traffic.resumed', detail: '+44740012: 0 of 20 codes were typed' },
      { actor: 'service', action: 'traffic.paused', detail: '+44740012: 0 of 20 codes were typed' },
    ])
  })

  test('phones use up at most their part of the daily ceiling, exactly, and leave email the rest (R43, R103)', async () => {
    const limits = { sendsPerApplicationDay: 10, phoneSendsPercent: 60 }
    const tenant = await storedTenant({ limits })
    const mail = () => tenant.mfa.send({ method: 'email', contact: freshEmail() })
    expect(await outcomeOf(mail())).toBe('sent')
    const methods = ['sms', 'whatsapp', 'call'] as const
    // Those for examples cost nothing, but they use up the ceiling, too.
    const phones = Array.from({ length: 12 }, (_, i) => phoneOf(i % 2 ? '+44770090' : `+4474007${i % 10}`))
    const outcomes = await Promise.all(
      phones.map((phone, i) => outcomeOf(send(tenant, phone, methods[i % 3]))),
    )
    expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(6)
    expect(outcomes.filter((outcome) => outcome === 'limited')).toHaveLength(6)
    for (let i = 0; i < 3; i++) expect(await outcomeOf(mail())).toBe('sent')
    expect(await outcomeOf(mail())).toBe('limited')
    advance(86_400)
    expect(await outcomeOf(send(tenant, phoneOf('+44740071')))).toBe('sent')
  })

  test('80 % and 100 % of a daily ceiling are an event, once, a line of the doctor and a gauge (R43)', async () => {
    const tenant = await storedTenant({ limits: { sendsPerApplicationDay: 20, phoneSendsPercent: 50 } })
    const { id } = tenant.application
    await operator(bench().store, 'ann').changeSettings(id, {
      set: { sendsPerApplicationDay: 20, phoneSendsPercent: 50 },
    })
    const events: LogEvent[] = []
    const { look, stop } = ceilingWatch(bench().store, completeLimits({}), (event) => events.push(event))
    stop()
    const alarms = () =>
      events
        .filter(({ event, application }) => application === id && event.startsWith('traffic.budget'))
        .map(({ event, reason, level, detail }) => [level, event.slice(15), reason, detail])
    const found = async () =>
      (await diagnoseCeilings(bench().store, undefined))
        .filter(({ about }) => about?.application === id)
        .map(({ severity, subject, message }) => [severity, subject, message])
    const gauge = async () => {
      const { show, read } = serviceMetrics('1.0.0')
      show({
        ...{
          pauses: () => [],
          unrecorded: () => 0,
          isStoreAvailable: async () => true,
          lockedOut: async () => [],
        },
        ceilings: look,
        clockDifferenceMs: async () => 0,
      })
      const { text } = await read()
      return Number(text.match(new RegExp(`countersign_daily_ceiling_used{application="${id}"} (.*)`))?.[1])
    }
    const sendMany = async (count: number, method: 'sms' | 'email') => {
      for (let i = 0; i < count; i++)
        await (method === 'sms'
          ? send(tenant, phoneOf(`+4474006${i % 10}`))
          : tenant.mfa.send({ method, contact: freshEmail() }))
    }
    await sendMany(7, 'sms')
    expect([alarms(), await found(), await gauge()]).toEqual([[], [], Number.NaN])
    await sendMany(2, 'sms')
    const raisePhones = 'Raise sendsPerApplicationDay or phoneSendsPercent.'
    const nearlyPhones = `9 of 10 messages to phones of this UTC day are used up. ${raisePhones}`
    expect(await found()).toEqual([['warning', 'traffic', `"${id}": ${nearlyPhones}`]])
    expect([await gauge(), await gauge()]).toEqual([0.9, 0.9])
    expect(alarms()).toEqual([['warn', 'nearly_used_up', 'phone', nearlyPhones]])
    await sendMany(3, 'sms')
    const full = `10 of 10 messages to phones of this UTC day are used up. Further ones are refused until midnight UTC. ${raisePhones}`
    expect(await found()).toEqual([['error', 'traffic', `"${id}": ${full}`]])
    await sendMany(7, 'email')
    await look()
    await sendMany(5, 'email')
    expect(await gauge()).toBe(1)
    const ofAll = (count: number, more = '') =>
      `${count} of 20 messages of this UTC day are used up.${more} Raise sendsPerApplicationDay.`
    const none = ' Further ones are refused until midnight UTC.'
    expect(alarms().slice(1)).toEqual([
      ['warn', 'nearly_used_up', 'application', ofAll(17)],
      ['warn', 'used_up', 'phone', full],
      ['warn', 'used_up', 'application', ofAll(20, none)],
    ])
    expect((await found())[0]).toEqual(['error', 'traffic', `"${id}": ${ofAll(20, none)}`])
    advance(86_400)
    expect([await found(), await gauge()]).toEqual([[], Number.NaN])
  })

  test('counts untyped codes over all prefixes of a country too (R103)', async () => {
    const tenant = freshTenant(bench(), { limits: { untypedPerCountry: 10 } })
    for (let i = 0; i < 10; i++) expect(await outcomeOf(send(tenant, phoneOf(`+4474001${i}`)))).toBe('sent')
    expect(await outcomeOf(send(tenant, phoneOf('+44740055')))).toBe('limited')
    expect(await outcomeOf(send(tenant, phoneOf('+491512345')))).toBe('sent')
  })

  test('allows four codes for each that is typed, so that a burst of users is slowed down, not paused (R103)', async () => {
    const tenant = freshTenant(bench(), { limits: { untypedPerPrefix: 5 } })
    for (let i = 0; i < 2; i++) await signIn(tenant, phoneOf('+44740013'))
    // 5 may stay untyped, and 4 are allowed for each of the 2 that were typed: 13, of which 2 are sent.
    for (let i = 0; i < 11; i++) expect(await outcomeOf(send(tenant, phoneOf('+44740013')))).toBe('sent')
    expect(await outcomeOf(send(tenant, phoneOf('+44740013')))).toBe('limited')
    const contact = { kind: 'phone', phone: tenant.sent().at(-1)?.to ?? '' } as const
    await tenant.mfa.verify({ method: 'sms', contact, kind: 'code', code: tenant.lastCode() })
    await eventually(async () => expect((await counts(tenant, '+44740013'))?.typed).toBe(3))
    advance(180)
    expect(await outcomeOf(send(tenant, phoneOf('+44740013')))).toBe('sent')
    expect(eventsOf(tenant)).toEqual(['traffic.untyped'])
  })

  test('counts a code as typed only if it is correct and came in a message (R103)', async () => {
    const tenant = freshTenant(bench())
    const phone = phoneOf('+44740016')
    const contact = { kind: 'phone', phone } as const
    expect(await outcomeOf(send(tenant, phone))).toBe('sent')
    await tenant.mfa.verify({ method: 'sms', contact, kind: 'code', code: wrong(tenant.lastCode()) })
    const app = await tenant.mfa.enrollApp({ contact })
    const code = appCode(app.outcome === 'prepared' ? (app.secret ?? '') : '')
    const confirmed = await tenant.mfa.verify({ method: 'app', contact, kind: 'confirm', code })
    expect(confirmed.outcome).toBe('valid')
    await signIn(tenant, phoneOf('+44740016'))
    expect(await counts(tenant, '+44740016')).toEqual({ sent: 2, typed: 1 })
  })

  test('halves the counts when a day begins, so that old traffic matters less (R103)', async () => {
    const tenant = freshTenant(bench())
    for (let i = 0; i < 20; i++) await send(tenant, phoneOf('+44740014'))
    advance(86_400)
    for (let i = 0; i < 10; i++) expect(await outcomeOf(send(tenant, phoneOf('+44740014')))).toBe('sent')
    expect(await outcomeOf(send(tenant, phoneOf('+44740014')))).toBe('limited')
    expect(await counts(tenant, '+44740014')).toEqual({ sent: 20, typed: 0 })
  })

  test('uses the budgets of an hour exactly, with 30 concurrent requests (R103)', async () => {
    const limits = { sendsPerCountryHour: 12, minConversionPercent: 0 }
    const tenant = freshTenant(bench(), { limits })
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) => outcomeOf(send(tenant, phoneOf(`+4474002${i % 10}`)))),
    )
    expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(12)
    expect(eventsOf(tenant)).toEqual(['traffic.budget_used_up'])
    const refused = await send(tenant, phoneOf('+44740020'))
    expect(refused).toEqual({ outcome: 'refused', refusal: { reason: 'limited', retryAfterSeconds: 3_600 } })
    advance(3_600)
    expect(await outcomeOf(send(tenant, phoneOf('+44740020')))).toBe('sent')

    const byPrefix = freshTenant(bench(), { limits: { ...limits, sendsPerPrefixHour: 3 } })
    for (let i = 0; i < 3; i++) expect(await outcomeOf(send(byPrefix, phoneOf('+44740021')))).toBe('sent')
    expect(await outcomeOf(send(byPrefix, phoneOf('+44740021')))).toBe('limited')
    expect(await outcomeOf(send(byPrefix, phoneOf('+44740022')))).toBe('sent')
  })

  test('a refused message counts against no budget (R103)', async () => {
    const tenant = freshTenant(bench(), { limits: { sendsPerPrefixHour: 1 } })
    const contact = { kind: 'phone', phone: phoneOf('+44740023') } as const
    expect(await outcomeOf(send(tenant, phoneOf('+44740023')))).toBe('sent')
    for (let i = 0; i < 8; i++) {
      expect(await tenant.mfa.send({ method: 'sms', contact, account: 'one' })).toMatchObject({
        refusal: { reason: 'limited' },
      })
    }
    const { email } = freshEmail()
    for (let i = 0; i < 5; i++) {
      const mail = { method: 'email', contact: { kind: 'email', email }, account: 'one' } as const
      expect(await tenant.mfa.send(mail)).toMatchObject({ outcome: 'sent' })
    }
  })

  test('stops at the ceilings of money for a day and a month, and resumes after them (R103)', async () => {
    const start = new Date()
    vi.setSystemTime(Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), 15, 12))
    const monthEnd = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1)
    const spending = { prices: { GB: 0.05, '*': 0.2 }, perDay: 0.5, perMonth: 0.8 }
    const tenant = freshTenant(bench(), { spending })
    for (let i = 0; i < 6; i++) expect(await outcomeOf(send(tenant, phoneOf(`+4474003${i}`)))).toBe('sent')
    // 0.30 are spent: one message for 0.20 fits, and no further one.
    expect(await outcomeOf(send(tenant, phoneOf('+491512345')))).toBe('sent')
    const refused = { outcome: 'refused', refusal: { reason: 'limited', retryAfterSeconds: 43_200 } }
    expect(await send(tenant, phoneOf('+447400300'))).toMatchObject({ outcome: 'refused' })
    expect(await send(tenant, phoneOf('+44740036'))).toEqual(refused)
    expect(eventsOf(tenant)).toEqual(['traffic.budget_used_up'])
    advance(86_400)
    for (let i = 0; i < 6; i++) expect(await outcomeOf(send(tenant, phoneOf(`+4474003${i}`)))).toBe('sent')
    expect(await send(tenant, phoneOf('+44740037'))).toMatchObject({
      refusal: { reason: 'limited', retryAfterSeconds: (monthEnd - Date.now()) / 1_000 },
    })
  })

  test('backup codes count against budgets, but nobody types them at once (R103)', async () => {
    const tenant = freshTenant(bench(), { limits: { sendsPerPrefixHour: 6, untypedPerPrefix: 5 } })
    for (let i = 0; i < 6; i++) {
      const contact = { kind: 'phone', phone: phoneOf('+44740024') } as const
      expect(await tenant.mfa.sendBackupCodes({ method: 'sms', contact })).toMatchObject({ outcome: 'sent' })
    }
    const contact = { kind: 'phone', phone: phoneOf('+44740024') } as const
    expect(await tenant.mfa.sendBackupCodes({ method: 'sms', contact })).toMatchObject({
      refusal: { reason: 'limited' },
    })
    expect(eventsOf(tenant)).toEqual(['traffic.budget_used_up'])
  })

  test('operators pause and resume countries and prefixes, with immediate effect (R103)', async () => {
    const tenant = await storedTenant()
    const { id } = tenant.application
    const ann = operator(bench().store, 'ann')
    await ann.pauseTraffic(id, 'GB')
    expect(await outcomeOf(send(tenant, phoneOf('+44740025')))).toBe('contact_refused')
    const dual = { kind: 'dual', email: freshEmail().email, phone: phoneOf('+44740025') } as const
    expect(await tenant.mfa.send({ method: 'dual', contact: dual })).toMatchObject({
      refusal: { reason: 'contact_refused', detail: expect.stringContaining('are paused') },
    })
    expect((await rejection(ann.pauseTraffic(id, 'GB'))).message).toContain('paused already')
    await ann.resumeTraffic(id, 'GB')
    expect(await outcomeOf(send(tenant, phoneOf('+44740025')))).toBe('sent')
    expect((await rejection(ann.resumeTraffic(id, 'GB'))).message).toContain('are not paused')
    for (const wrong of ['Britain', 'XX', '447400', '+0']) {
      expect((await rejection(ann.pauseTraffic(id, wrong))).message).toContain('neither a country')
    }
  })

  test('neither test keys nor numbers reserved for examples are counted', async () => {
    const limits = { sendsPerPrefixHour: 1 }
    const tests = freshTenant(bench(), { mode: 'test', limits })
    for (let i = 0; i < 3; i++) expect(await outcomeOf(send(tests, phoneOf('+44740026')))).toBe('sent')
    const live = freshTenant(bench(), { limits })
    for (let i = 0; i < 3; i++) {
      expect(await outcomeOf(send(live, `+447700900${String(500 + i)}`))).toBe('sent')
    }
    await eventually(() => expect(eventsOf(live)).toEqual([]))
  })
})
