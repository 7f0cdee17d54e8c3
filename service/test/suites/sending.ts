import { expect, test } from 'vitest'
import type { RequestOf } from '../../../src/protocol/service.js'
import { everyCase } from '../../../test/kit/every-case.js'
import { inProcessService } from '../../src/flows/in-process-service.js'
import type { Store } from '../../src/store/store.js'
import {
  advance,
  type Bench,
  DeliveryError,
  eventually,
  freshEmail,
  freshPhone,
  freshTenant,
  rejection,
  type Tenant,
  wrong,
} from '../kit.js'

/** The challenge of a code that was sent. */
async function challengeOf(sending: ReturnType<Tenant['mfa']['send']>): Promise<string> {
  const answer = await sending
  if (answer.outcome !== 'sent' || !answer.challenge) throw new Error('The code was not sent.')
  return answer.challenge
}

export function sendingSuite(bench: () => Bench, isAtOnceOnly = false): void {
  test('of 20 concurrent requests to send a code again, one sends it (R39)', async () => {
    const { mfa, sent } = freshTenant(bench())
    const contact = freshPhone()
    const first = await mfa.send({ method: 'sms', contact })
    const challenge = first.outcome === 'refused' ? '' : (first.challenge ?? '')
    advance(30)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => mfa.send({ method: 'sms', contact, challenge })),
    )
    expect(answers.filter(({ outcome }) => outcome === 'sent')).toHaveLength(1)
    const refused = answers.filter(({ outcome }) => outcome === 'refused')
    expect(new Set(refused.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([
        JSON.stringify({ outcome: 'refused', refusal: { reason: 'limited', retryAfterSeconds: 60 } }),
      ]),
    )
    expect(sent()).toHaveLength(2)
  })

  test('uses the daily budget of the application exactly, with 60 concurrent requests (R43)', async () => {
    const { mfa, sent } = freshTenant(bench(), { limits: { sendsPerApplicationDay: 37 } })
    const asked = Array.from({ length: 60 }, () => mfa.send({ method: 'email', contact: freshEmail() }))
    const sentOnes = (await Promise.all(asked)).filter((answer) => answer.outcome === 'sent')
    expect(sentOnes).toHaveLength(37)
    expect(sent()).toHaveLength(37)
  })

  test('exceeds no budget with 40 concurrent requests for one destination (R43)', async () => {
    const { mfa, sent } = freshTenant(bench())
    const contact = freshPhone()
    const asked = Array.from({ length: 40 }, (_, i) => mfa.send({ method: 'sms', contact, account: `p${i}` }))
    const sentOnes = (await Promise.all(asked)).filter((answer) => answer.outcome === 'sent')
    expect(sentOnes).toHaveLength(5)
    expect(sent()).toHaveLength(5)
  })

  if (isAtOnceOnly) return

  /** The verbs of a tenant, for which something happens once between the look at a challenge and the statement that sends its code. */
  const whileSending = ({ application }: Tenant, happens: () => Promise<unknown>) => {
    const { context, store } = bench()
    let left = 1
    const query: Store['query'] = async (...statement) => {
      if (statement[0].includes('repeated AS') && left-- > 0) await happens()
      return store.query(...statement)
    }
    return inProcessService({ ...context, store: { ...store, query } }, async () => application)
  }

  test('leaves a code used that was accepted while it was being sent again (R37)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    const challenge = await challengeOf(tenant.mfa.send({ method: 'sms', contact }))
    const typed = { method: 'sms', contact, kind: 'code', code: tenant.lastCode() } as const
    advance(30)
    const outcomes: string[] = []
    const late = whileSending(tenant, async () => outcomes.push((await tenant.mfa.verify(typed)).outcome))
    await late.send({ method: 'sms', contact, challenge })
    expect(outcomes).toEqual(['valid'])
    expect((await tenant.mfa.verify(typed)).outcome).toBe('invalid')
  })

  test('leaves a code void that was replaced while it was being sent again (R39)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    const challenge = await challengeOf(tenant.mfa.send({ method: 'sms', contact }))
    const older = { method: 'sms', contact, kind: 'code', code: tenant.lastCode(), challenge } as const
    advance(30)
    const late = whileSending(tenant, () => tenant.mfa.send({ method: 'sms', contact }))
    expect(await challengeOf(late.send({ method: 'sms', contact, challenge }))).not.toBe(challenge)
    expect((await tenant.mfa.verify(older)).outcome).toBe('invalid')
  })

  test('lengthens the wait for each of two messages of a code that were under way at once (R39)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    const challenge = await challengeOf(tenant.mfa.send({ method: 'sms', contact }))
    const again = { method: 'sms', contact, challenge } as const
    advance(30)
    let answer: unknown
    // The earlier one waits for longer than a minute, and is written while the later one is on its way.
    const earlier = whileSending(tenant, async () => {
      advance(60)
      let write: () => void = () => {}
      const held = new Promise<void>((resolve) => {
        write = resolve
      })
      const later = whileSending(tenant, async () => {
        write()
        await sent
      })
      answer = later.send(again)
      await held
    })
    const sent = earlier.send(again)
    expect(await sent).toMatchObject({ challenge, resendInSeconds: 60 })
    expect(await answer).toMatchObject({ challenge, resendInSeconds: 120 })
  })

  test('sends a code again only for the tenant, user and recipient it was sent for (R38)', async () => {
    const changes: Readonly<Record<string, Partial<RequestOf<'send'>>>> = {
      user: { account: 'another' },
      recipient: { contact: freshPhone() },
      tenant: {},
    }
    await everyCase(Object.entries(changes), async ([what, change]) => {
      const tenant = freshTenant(bench())
      const request = { method: 'sms', contact: freshPhone(), account: 'one' } as const
      const challenge = await challengeOf(tenant.mfa.send(request))
      advance(30)
      const { mfa } = what === 'tenant' ? freshTenant(bench()) : tenant
      expect(await challengeOf(mfa.send({ ...request, ...change, challenge }))).not.toBe(challenge)
    })
  })

  test('begins a new challenge for one that was used, has expired or has no attempts left (R36, R37)', async () => {
    const fail = async ({ mfa }: Tenant, typed: RequestOf<'verify'> & { readonly code: string }) => {
      for (let i = 0; i < 5; i++) await mfa.verify({ ...typed, code: wrong(typed.code) })
    }
    const ends: Readonly<Record<string, (...of: Parameters<typeof fail>) => unknown>> = {
      used: ({ mfa }, typed) => mfa.verify(typed),
      expired: () => advance(300),
      'without attempts': fail,
    }
    await everyCase(Object.entries(ends), async ([, end]) => {
      const tenant = freshTenant(bench())
      const contact = freshPhone()
      const challenge = await challengeOf(tenant.mfa.send({ method: 'sms', contact }))
      await end(tenant, { method: 'sms', contact, kind: 'code', code: tenant.lastCode() })
      advance(30)
      expect(await challengeOf(tenant.mfa.send({ method: 'sms', contact, challenge }))).not.toBe(challenge)
    })
  })

  test('sends a code by every channel and accepts it (R35)', async () => {
    const { mfa, sent } = freshTenant(bench())
    const contact = freshPhone()
    for (const [index, method] of (['sms', 'whatsapp', 'call'] as const).entries()) {
      const answer = await mfa.send({ method, contact, account: 'a' })
      expect(answer).toMatchObject({ outcome: 'sent', expiresInSeconds: 300, resendInSeconds: 30 })
      const message = sent()[index]
      expect(message).toMatchObject({ channel: method, to: contact.phone, purpose: 'sign-in' })
      expect(message?.code).toMatch(/^\d{6}$/)
      const code = message?.code ?? ''
      expect(await mfa.verify({ method, contact, account: 'a', kind: 'code', code })).toEqual({
        outcome: 'valid',
      })
    }
  })

  test('lets a code sent by email live twice as long as one sent to a phone (R36)', async () => {
    const { mfa } = freshTenant(bench())
    expect(await mfa.send({ method: 'email', contact: freshEmail() })).toMatchObject({
      expiresInSeconds: 600,
    })
  })

  test('sends one DUAL code to the mailbox and to the phone', async () => {
    const { mfa, sent } = freshTenant(bench())
    const contact = { kind: 'dual', email: freshEmail().email, phone: freshPhone().phone } as const
    await mfa.send({ method: 'dual', contact })
    const [mail, sms] = ['email', 'sms'].map((channel) => sent().find((one) => one.channel === channel))
    expect(sent()).toHaveLength(2)
    expect(mail?.to).toBe(contact.email)
    expect(sms).toMatchObject({ to: contact.phone, code: mail?.code })
    const code = mail?.code ?? ''
    expect(await mfa.verify({ method: 'dual', contact, kind: 'code', code })).toEqual({ outcome: 'valid' })
  })

  test.each([
    ['waits', 'outage', { outcome: 'queued' }, 'valid'],
    ['was refused for good', 'carrier', { refusal: { reason: 'delivery_failed' } }, 'invalid'],
  ] as const)(
    'a DUAL code is not sent while one of its messages %s',
    async (_what, fault, expected, later) => {
      const { mfa, lastCode } = freshTenant(bench())
      const contact = { kind: 'dual', email: freshEmail().email, phone: freshPhone().phone } as const
      bench().failNext(new DeliveryError('not taken', fault))
      expect(await mfa.send({ method: 'dual', contact })).toMatchObject(expected)
      const right = { method: 'dual', contact, kind: 'code', code: lastCode() } as const
      expect(await mfa.verify(right)).toEqual({ outcome: later })
    },
  )

  test('repeats the same code within a challenge, without extending its lifetime or attempts (R39)', async () => {
    const { mfa, sent } = freshTenant(bench())
    const contact = freshPhone()
    const first = await mfa.send({ method: 'sms', contact })
    if (first.outcome === 'refused') throw new Error('refused')
    const challenge = first.challenge ?? ''
    for (let i = 0; i < 4; i++) {
      await mfa.verify({
        method: 'sms',
        contact,
        kind: 'code',
        code: wrong(sent()[0]?.code ?? ''),
        challenge,
      })
    }
    advance(30)
    const again = await mfa.send({ method: 'call', contact, challenge })
    expect(again).toMatchObject({ challenge, expiresInSeconds: 270, resendInSeconds: 60 })
    expect(sent()[1]).toMatchObject({ channel: 'call', code: sent()[0]?.code })
    await mfa.verify({ method: 'sms', contact, kind: 'code', code: wrong(sent()[0]?.code ?? ''), challenge })
    const right = { method: 'sms', contact, kind: 'code', code: sent()[0]?.code ?? '', challenge } as const
    expect(await mfa.verify(right)).toEqual({ outcome: 'invalid' })
  })

  test('waits 30, 60, then 120 seconds before it repeats a code', async () => {
    const { mfa } = freshTenant(bench(), { limits: { emailCodeLifetime: '10m' } })
    const contact = freshEmail()
    const first = await mfa.send({ method: 'email', contact })
    const challenge = first.outcome === 'refused' ? '' : (first.challenge ?? '')
    for (const waitSeconds of [30, 60, 120, 120]) {
      const early = await mfa.send({ method: 'email', contact, challenge })
      expect(early).toEqual({
        outcome: 'refused',
        refusal: { reason: 'limited', retryAfterSeconds: waitSeconds },
      })
      advance(waitSeconds - 0.001)
      expect(await mfa.send({ method: 'email', contact, challenge })).toMatchObject({ outcome: 'refused' })
      advance(0.001)
      expect(await mfa.send({ method: 'email', contact, challenge })).toMatchObject({ challenge })
    }
  })

  test('begins a new challenge when none is named, and voids the older code (R39)', async () => {
    const { mfa, sent } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    const older = sent()[0]?.code ?? ''
    expect(await mfa.send({ method: 'sms', contact })).toMatchObject({ outcome: 'sent' })
    const newer = sent()[1]?.code ?? ''
    expect(newer).not.toBe(older)
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: older })).toEqual({
      outcome: 'invalid',
    })
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: newer })).toEqual({
      outcome: 'valid',
    })
  })

  test('keeps the challenges of two purposes apart (R38)', async () => {
    const { mfa, sent } = freshTenant(bench())
    const contact = freshPhone()
    const signIn = await mfa.send({ method: 'sms', contact, purpose: 'sign-in' })
    const stepUp = await mfa.send({ method: 'sms', contact, purpose: 'step-up' })
    if (signIn.outcome === 'refused' || stepUp.outcome === 'refused') throw new Error('refused')
    const code = sent()[0]?.code ?? ''
    const verification = { method: 'sms', contact, kind: 'code', code } as const
    expect(await mfa.verify({ ...verification, challenge: stepUp.challenge ?? '' })).toEqual({
      outcome: 'invalid',
    })
    expect(await mfa.verify({ ...verification, challenge: signIn.challenge ?? '' })).toEqual({
      outcome: 'valid',
    })
    expect(sent()[1]?.text).toContain('to confirm an action')
  })

  test('sends 5 messages in 10 minutes and 10 in a day to one account, over all contacts (R43)', async () => {
    const { mfa } = freshTenant(bench())
    const ask = () => mfa.send({ method: 'sms', contact: freshPhone(), account: 'one' })
    for (let i = 0; i < 5; i++) expect(await ask()).toMatchObject({ outcome: 'sent' })
    expect(await ask()).toEqual({
      outcome: 'refused',
      refusal: { reason: 'limited', retryAfterSeconds: 600 },
    })
    advance(600)
    for (let i = 0; i < 5; i++) expect(await ask()).toMatchObject({ outcome: 'sent' })
    advance(600)
    const refused = { outcome: 'refused', refusal: { reason: 'limited', retryAfterSeconds: 86_400 - 1_200 } }
    expect(await ask()).toEqual(refused)
  })

  test('counts backup codes among the messages of an account (R43)', async () => {
    const { mfa } = freshTenant(bench())
    for (let i = 0; i < 5; i++) {
      await mfa.sendBackupCodes({ method: 'email', contact: freshEmail(), account: 'one' })
    }
    expect(await mfa.send({ method: 'email', contact: freshEmail(), account: 'one' })).toMatchObject({
      refusal: { reason: 'limited' },
    })
  })

  test('sends 5 messages per hour to one destination, over all accounts and DUAL included (R43)', async () => {
    const { mfa } = freshTenant(bench())
    const { phone } = freshPhone()
    for (let i = 0; i < 4; i++)
      await mfa.send({ method: 'sms', contact: { kind: 'phone', phone }, account: `a${i}` })
    const dual = { kind: 'dual', email: freshEmail().email, phone } as const
    expect(await mfa.send({ method: 'dual', contact: dual })).toMatchObject({ outcome: 'sent' })
    const sixth = { method: 'call', contact: { kind: 'phone', phone }, account: 'b' } as const
    expect(await mfa.send(sixth)).toMatchObject({ refusal: { reason: 'limited', retryAfterSeconds: 3_600 } })
  })

  test('sends 10 messages per hour for one client network, such as a /64 of IPv6 (R31, R43)', async () => {
    const { mfa } = freshTenant(bench())
    const ask = (clientAddress: string) => mfa.send({ method: 'email', contact: freshEmail(), clientAddress })
    for (let i = 0; i < 10; i++)
      expect(await ask(`2001:db8:0:7::${i + 1}`)).toMatchObject({ outcome: 'sent' })
    expect(await ask('2001:db8:0:7:ffff::1')).toMatchObject({ refusal: { reason: 'limited' } })
    expect(await ask('2001:db8:0:8::1')).toMatchObject({ outcome: 'sent' })
    for (let i = 0; i < 10; i++) await ask(i % 2 ? '192.0.2.1' : '::ffff:192.0.2.1')
    expect(await ask('192.0.2.1')).toMatchObject({ refusal: { reason: 'limited' } })
  })

  test('stops at the daily budget of the application until the next day (R43)', async () => {
    const { mfa } = freshTenant(bench(), { limits: { sendsPerApplicationDay: 2 } })
    await mfa.send({ method: 'email', contact: freshEmail() })
    await mfa.send({ method: 'email', contact: freshEmail() })
    const refused = await mfa.send({ method: 'email', contact: freshEmail() })
    expect(refused).toMatchObject({ refusal: { reason: 'limited' } })
    if (refused.outcome !== 'refused' || refused.refusal.reason !== 'limited') throw new Error('not limited')
    advance(refused.refusal.retryAfterSeconds)
    expect(await mfa.send({ method: 'email', contact: freshEmail() })).toMatchObject({ outcome: 'sent' })
  })

  test.each([
    ['a premium-rate number', '+19005550123', 'No messages are sent to premium-rate numbers.'],
    ['a toll-free number', '+18005550123', 'No messages are sent to toll-free numbers.'],
    ['an unassignable number', '+12345678', 'The phone number is not assigned in any country.'],
  ])('refuses %s', async (_what, phone, detail) => {
    const { mfa, sent } = freshTenant(bench())
    expect(await mfa.send({ method: 'sms', contact: { kind: 'phone', phone } })).toEqual({
      outcome: 'refused',
      refusal: { reason: 'contact_refused', detail },
    })
    expect(sent()).toEqual([])
  })

  // Messages that earlier tests left in the queue would take the failures of a test.
  const dropQueued = () => bench().store.query("DELETE FROM outbox WHERE state = 'queued'")

  test.each([
    ['the carrier', new DeliveryError('no', 'carrier'), { reason: 'delivery_failed' }],
    [
      'its contact',
      new DeliveryError('no such mailbox', 'contact', { contact: 'unknown' }),
      { reason: 'contact_refused', detail: 'This phone number or mailbox does not exist.' },
    ],
  ])(
    'reports that a message was refused for good because of %s, and voids its code',
    async (_what, failure, refusal) => {
      const { mfa, application } = freshTenant(bench())
      bench().failNext(failure)
      expect(await mfa.send({ method: 'email', contact: freshEmail() })).toEqual({
        outcome: 'refused',
        refusal,
      })
      const challenges = await bench().store.query<{ dead: boolean }>(
        'SELECT ended_at IS NOT NULL AS ended FROM challenge WHERE application = $1',
        [application.id],
      )
      expect(challenges).toEqual([{ ended: true }])
    },
  )

  test('voids a code that is refused after the request, unless it was sent before', async () => {
    await dropQueued()
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    const down = () => new DeliveryError('down', 'outage')
    const unknown = () => new DeliveryError('no such number', 'contact', { contact: 'unknown' })
    bench().failNext(down(), unknown())
    const late = await mfa.send({ method: 'sms', contact: freshPhone() })
    expect(late).toMatchObject({ outcome: 'queued' })
    advance(3)
    await bench().context.outbox.poll()
    const challenge = 'challenge' in late ? String(late.challenge) : ''
    const ended = 'SELECT 1 FROM challenge WHERE id = $1 AND ended_at IS NOT NULL'
    expect(await bench().store.query(ended, [challenge])).toHaveLength(1)
    expect(await mfa.deliveryOf?.({ challenge })).toMatchObject({ status: 'refused' })

    const first = await mfa.send({ method: 'sms', contact })
    const repeated = 'challenge' in first ? String(first.challenge) : ''
    advance(30)
    bench().failNext(down(), unknown())
    await mfa.send({ method: 'call', contact, challenge: repeated })
    advance(3)
    await bench().context.outbox.poll()
    const right = { method: 'sms', contact, kind: 'code', code: lastCode(), challenge: repeated } as const
    expect(await mfa.verify(right)).toEqual({ outcome: 'valid' })
  })

  test('keeps a code that a later message carried, when the earlier one is refused after it', async () => {
    await dropQueued()
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    bench().failNext(new DeliveryError('down', 'outage', { retryAfterMs: 40_000 }))
    const first = await mfa.send({ method: 'sms', contact })
    expect(first).toMatchObject({ outcome: 'queued' })
    const challenge = 'challenge' in first ? String(first.challenge) : ''
    advance(31)
    expect(await mfa.send({ method: 'sms', contact, challenge })).toMatchObject({ outcome: 'sent' })
    bench().failNext(new DeliveryError('no such number', 'contact', { contact: 'unknown' }))
    advance(14)
    await bench().context.outbox.poll()
    const right = { method: 'sms', contact, kind: 'code', code: lastCode(), challenge } as const
    expect(await mfa.verify(right)).toEqual({ outcome: 'valid' })
  })

  test('voids the code of a message that was refused, and no other of its account', async () => {
    const { mfa, lastCode, application } = freshTenant(bench())
    const [kept, lost] = [freshPhone(), freshPhone()]
    const of = { method: 'sms', account: 'one' } as const
    await mfa.send({ ...of, contact: kept })
    advance(1)
    bench().failNext(new DeliveryError('no', 'carrier'))
    expect(await mfa.send({ ...of, contact: lost })).toMatchObject({ outcome: 'refused' })
    const ended = 'SELECT contact FROM challenge WHERE application = $1 AND ended_at IS NOT NULL'
    expect(await bench().store.query(ended, [application.id])).toEqual([{ contact: lost.phone }])
    const right = { ...of, contact: kept, kind: 'code', code: lastCode() } as const
    expect(await mfa.verify(right)).toEqual({ outcome: 'valid' })
  })

  test('voids a code that is refused after the message before was reported as undelivered', async () => {
    const { mfa, lastCode, application } = freshTenant(bench())
    const contact = freshPhone()
    const first = await mfa.send({ method: 'sms', contact })
    const challenge = 'challenge' in first ? String(first.challenge) : ''
    await bench().store.query("UPDATE outbox SET state = 'refused' WHERE application = $1", [application.id])
    advance(30)
    bench().failNext(new DeliveryError('no', 'carrier'))
    expect(await mfa.send({ method: 'sms', contact, challenge })).toMatchObject({ outcome: 'refused' })
    const right = { method: 'sms', contact, kind: 'code', code: lastCode(), challenge } as const
    expect(await mfa.verify(right)).toEqual({ outcome: 'invalid' })
  })

  test('answers queued while a carrier is down, and delivers when it is back', async () => {
    const { mfa, sent, application } = freshTenant(bench())
    const contact = freshEmail()
    bench().failNext(new DeliveryError('down', 'outage'))
    expect(await mfa.send({ method: 'email', contact })).toMatchObject({ outcome: 'queued' })
    expect(sent()).toEqual([])
    advance(3)
    await bench().context.outbox.poll()
    expect(sent()).toHaveLength(1)
    const rows = await bench().store.query(
      'SELECT state, sealed, attempts FROM outbox WHERE application = $1',
      [application.id],
    )
    expect(rows).toEqual([{ state: 'sent', sealed: null, attempts: 2 }])
  })

  test('delivers a code whose carrier was down for most of its life, and none after it has expired', async () => {
    await dropQueued()
    const { mfa, sent, application } = freshTenant(bench())
    const states = () =>
      bench().store.query<{ state: string }>('SELECT state FROM outbox WHERE application = $1', [
        application.id,
      ])
    const down = () => new DeliveryError('down', 'outage')
    bench().failNext(down(), down(), down(), down(), down(), down())
    await mfa.send({ method: 'email', contact: freshEmail() })
    for (let i = 0; i < 6; i++) {
      expect(await states()).toEqual([{ state: 'queued' }])
      advance(90)
      await bench().context.outbox.poll()
    }
    expect(await states()).toEqual([{ state: 'sent' }])
    expect(sent()).toHaveLength(1)
    bench().failNext(down())
    await mfa.send({ method: 'sms', contact: freshPhone() })
    advance(301)
    await bench().context.outbox.poll()
    expect((await states()).map((row) => row.state).sort()).toEqual(['expired', 'sent'])
    expect(sent()).toHaveLength(1)
  })

  test('stores no code, and no message after it was handed over (R40)', async () => {
    const { mfa, lastCode, application } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    bench().failNext(new DeliveryError('down', 'outage'))
    await mfa.send({ method: 'call', contact })
    const tables = ['account', 'challenge', 'outbox', 'budget', 'factor']
    for (const table of tables) {
      const rows = await bench().store.query(`SELECT * FROM ${table} WHERE application = $1`, [
        application.id,
      ])
      expect(JSON.stringify(rows)).not.toContain(lastCode())
    }
    advance(10)
    await bench().context.outbox.poll()
    const kept = await bench().store.query(
      'SELECT 1 FROM outbox WHERE application = $1 AND sealed IS NOT NULL',
      [application.id],
    )
    expect(kept).toEqual([])
  })

  test('logs events without codes or contacts (R89)', async () => {
    const { mfa, lastCode, application } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    await mfa.verify({ method: 'sms', contact, kind: 'code', code: wrong(lastCode()) })
    await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })
    const events = bench().events.filter((event) => event.application === application.id)
    expect(events.map((event) => event.event)).toEqual([
      'delivery.sent',
      'send.sent',
      'verify.failed',
      'verify.succeeded',
    ])
    expect(JSON.stringify(events)).not.toContain(contact.phone.slice(-6))
    expect(JSON.stringify(events)).not.toContain(lastCode())
  })

  test('throws a ServiceError that names the invalid parameter', async () => {
    const { mfa } = freshTenant(bench())
    const contact = { kind: 'email', email: 'not a mailbox' } as const
    const error = await rejection(mfa.send({ method: 'email', contact }))
    expect(error).toMatchObject({ code: 'ERR_MFA_SERVICE_REQUEST' })
    expect(error.message).toContain('User must be an email address')
  })

  test('notifies in the language that was last used with a proven contact', async () => {
    const { mfa, sent, lastCode } = freshTenant(bench())
    const contact = freshEmail()
    await mfa.send({ method: 'email', contact, locale: 'de-AT' })
    expect(sent()[0]?.text).toContain('Geben Sie ihn nicht weiter')
    await mfa.verify({ method: 'email', contact, kind: 'code', code: lastCode(), locale: 'de-AT' })
    for (let i = 0; i < 10; i++) await mfa.verify({ method: 'app', contact, kind: 'code', code: '000000' })
    await eventually(() =>
      expect(sent()[1]).toMatchObject({ purpose: 'notice', to: contact.email, locale: 'de' }),
    )
  })
}
