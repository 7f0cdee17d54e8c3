import { expect, test } from 'vitest'
import type { RequestOf } from '../../../src/protocol/service.js'
import { everyCase } from '../../../test/kit/every-case.js'
import {
  advance,
  answersAtOnce,
  appCode,
  type Bench,
  eventually,
  freshEmail,
  freshPhone,
  freshTenant,
  type Tenant,
  wrong,
} from '../kit.js'

const invalid = { outcome: 'invalid' }
const valid = { outcome: 'valid' }

export function verifyingSuite(bench: () => Bench, isAtOnceOnly = false): void {
  test('evaluates exactly five of 200 concurrent attempts, and counts no more as failures (R22)', async () => {
    const { mfa, lastCode, application } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    const attempt = { method: 'sms', contact, kind: 'code', code: wrong(lastCode()) } as const
    const answers = await Promise.all(Array.from({ length: 200 }, () => mfa.verify(attempt)))
    expect(answers.every((answer) => answer.outcome === 'invalid')).toBe(true)
    const rows = await bench().store.query('SELECT attempts FROM challenge WHERE application = $1', [
      application.id,
    ])
    expect(rows).toEqual([{ attempts: 5 }])
    const failures = await bench().store.query(
      'SELECT jsonb_array_length(failures) AS counted FROM account WHERE application = $1',
      [application.id],
    )
    expect(failures).toEqual([{ counted: 5 }])
    expect(await mfa.verify({ ...attempt, code: lastCode() })).toEqual(invalid)
  })

  test('accepts exactly one of 200 concurrent submissions of the correct code (R21, R37)', async () => {
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    const right = { method: 'sms', contact, kind: 'code', code: lastCode() } as const
    const answers = await answersAtOnce(200, () => mfa.verify(right))
    expect(answers.filter((answer) => answer.outcome === 'valid')).toHaveLength(1)
  })

  if (isAtOnceOnly) return

  test('says in the log how each code was evaluated, and of which factor', async () => {
    const { mfa, application, lastCode, sent } = freshTenant(bench())
    const contact = freshEmail()
    const typed = { method: 'email', contact, kind: 'code' } as const
    await mfa.verify({ ...typed, code: '123456' })
    await mfa.send({ method: 'email', contact })
    await mfa.verify({ ...typed, code: wrong(lastCode()) })
    await mfa.verify({ ...typed, code: lastCode() })
    const app = await mfa.enrollApp({ contact })
    const code = appCode(app.outcome === 'prepared' ? (app.secret ?? '') : '')
    await mfa.verify({ method: 'app', contact, kind: 'confirm', code })
    await mfa.sendBackupCodes({ method: 'email', contact })
    const backup = sent().findLast(({ codes }) => codes)?.codes?.[0] ?? 'none was sent'
    await mfa.verify({ ...typed, kind: 'backup', code: backup })
    const logged = bench().events.filter(
      (one) => one.application === application.id && /^(verify\.|factor\.bound|backup\.used)/.test(one.event),
    )
    expect(logged.map(({ event, reason, factor }) => [event, reason, factor])).toEqual([
      ['verify.failed', 'unevaluated', 'EMAIL'],
      ['verify.failed', 'wrong', 'EMAIL'],
      ['verify.succeeded', 'delivered', 'EMAIL'],
      ['verify.succeeded', 'app-bound', 'APP'],
      ['factor.bound', undefined, 'APP'],
      ['verify.succeeded', 'backup', 'EMAIL'],
      ['backup.used', undefined, 'EMAIL'],
    ])
  })

  test('accepts a code until the last millisecond of its lifetime, and not after (R36)', async () => {
    for (const [ageSeconds, expected] of [
      [299.999, valid],
      [300, invalid],
    ] as const) {
      const { mfa, lastCode } = freshTenant(bench())
      const contact = freshPhone()
      await mfa.send({ method: 'sms', contact })
      advance(ageSeconds)
      expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })).toEqual(expected)
    }
  })

  test('accepts a code once (R37)', async () => {
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })).toEqual(valid)
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })).toEqual(invalid)
  })

  test('accepts a code with spaces, dashes and full-width digits (R30)', async () => {
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    const fullWidth = [...lastCode()].map((digit) => String.fromCharCode(0xff10 + Number(digit)))
    const code = ` ${fullWidth.slice(0, 3).join('')}–${fullWidth.slice(3).join('')} `
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code })).toEqual(valid)
  })

  test('evaluates five attempts per challenge; then the correct code is rejected too (R22)', async () => {
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    for (let i = 0; i < 5; i++) {
      expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: wrong(lastCode()) })).toEqual(
        invalid,
      )
    }
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })).toEqual(invalid)
  })

  test('accepts a code only for the tenant, user, factor, recipient, purpose and transaction it was sent for (R38)', async () => {
    const of = { method: 'dual', account: 'one', transaction: 't' } as const
    const phone = freshPhone()
    const mailbox = freshEmail()
    const changes: Readonly<Record<string, Partial<RequestOf<'verify'>>>> = {
      user: { account: 'another' },
      'factor: phone': { method: 'sms', contact: phone },
      'factor: mailbox': { method: 'email', contact: mailbox },
      'factor: app': { method: 'app', contact: mailbox },
      'factor: backup codes': { kind: 'backup' },
      'recipient: phone': { contact: { kind: 'dual', email: mailbox.email, phone: freshPhone().phone } },
      'recipient: mailbox': { contact: { kind: 'dual', email: freshEmail().email, phone: phone.phone } },
      challenge: { challenge: 'another-challenge' },
      transaction: { transaction: 'u' },
      purpose: {},
      tenant: {},
    }
    const contact = { kind: 'dual', email: mailbox.email, phone: phone.phone } as const
    const send = async (purpose: 'sign-in' | 'step-up', { mfa, lastCode }: Tenant) => {
      const answer = await mfa.send({ ...of, contact, purpose })
      if (answer.outcome === 'refused') throw new Error(answer.refusal.reason)
      const { challenge = '' } = answer
      return { ...of, contact, kind: 'code', challenge, code: lastCode() } as const
    }
    await everyCase(Object.entries(changes), async ([what, change]) => {
      const tenant = freshTenant(bench())
      const right = await send('sign-in', tenant)
      const { challenge } = await send('step-up', tenant)
      const { mfa } = what === 'tenant' ? freshTenant(bench()) : tenant
      const attempt = { ...right, ...(what === 'purpose' && { challenge }), ...change }
      expect(await mfa.verify(attempt)).toEqual(invalid)
      expect(await tenant.mfa.verify(right)).toEqual(valid)
    })
  })

  test('does not accept a code of another application (R86)', async () => {
    const [one, other] = [freshTenant(bench()), freshTenant(bench())]
    const contact = freshPhone()
    await one.mfa.send({ method: 'sms', contact })
    const right = { method: 'sms', contact, kind: 'code', code: one.lastCode() } as const
    expect(await other.mfa.verify(right)).toEqual(invalid)
    expect(await one.mfa.verify(right)).toEqual(valid)
  })

  test('recognizes a mailbox in every spelling (R29)', async () => {
    const { mfa, lastCode } = freshTenant(bench())
    await mfa.send({ method: 'email', contact: { kind: 'email', email: 'Zoe@Example.COM' } })
    const contact = { kind: 'email', email: 'zoe@example.com' } as const
    expect(await mfa.verify({ method: 'email', contact, kind: 'code', code: lastCode() })).toEqual(valid)
  })

  test('locks an account for 30 minutes after ten failures over several factors (R23, R27)', async () => {
    const { mfa, lastCode, sent } = freshTenant(bench())
    const contact = freshPhone()
    const email = freshEmail()
    const of = { contact, account: 'one' }
    for (let i = 0; i < 4; i++) await mfa.verify({ ...of, method: 'app', kind: 'code', code: '123456' })
    for (let i = 0; i < 3; i++)
      await mfa.verify({ ...of, method: 'sms', kind: 'backup', code: 'AAAABBBBCCCCDDDD' })
    await mfa.send({ ...of, method: 'sms' })
    for (let i = 0; i < 3; i++) {
      expect(await mfa.verify({ ...of, method: 'sms', kind: 'code', code: wrong(lastCode()) })).toEqual(
        invalid,
      )
    }
    const locked = { outcome: 'refused', refusal: { reason: 'locked', retryAfterSeconds: 1_800 } }
    expect(await mfa.verify({ ...of, method: 'sms', kind: 'code', code: lastCode() })).toEqual(locked)
    expect(await mfa.send({ method: 'email', contact: email, account: 'one' })).toEqual(locked)
    expect(await mfa.sendBackupCodes({ method: 'email', contact: email, account: 'one' })).toEqual(locked)
    expect(await mfa.enrollApp({ contact: email, account: 'one' })).toEqual(locked)
    await eventually(() => expect(sent().at(-1)).toMatchObject({ purpose: 'notice', to: contact.phone }))
    expect(sent().at(-1)?.text).toContain('locked for 30 minutes')
    advance(1_799.5)
    expect(await mfa.send({ ...of, method: 'sms' })).toMatchObject({ refusal: { retryAfterSeconds: 1 } })
    advance(0.5)
    expect(await mfa.send({ ...of, method: 'sms' })).toMatchObject({ outcome: 'sent' })
    expect(await mfa.verify({ ...of, method: 'sms', kind: 'code', code: lastCode() })).toEqual(valid)
  })

  test('refuses a transaction that began before the lock (R32)', async () => {
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    await mfa.send({ method: 'sms', contact })
    for (let i = 0; i < 10; i++) await mfa.verify({ method: 'app', contact, kind: 'code', code: '123456' })
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })).toMatchObject({
      refusal: { reason: 'locked' },
    })
  })

  test('doubles the lock each time, up to 24 hours, and starts again after a day without failures', async () => {
    const { mfa } = freshTenant(bench(), { limits: { failuresBeforeDisable: 100 } })
    const contact = freshEmail()
    const fail = () => mfa.verify({ method: 'email', contact, kind: 'backup', code: 'AAAABBBBCCCCDDDD' })
    const lockSeconds = async () => {
      for (let i = 0; i < 10; i++) expect(await fail()).toEqual(invalid)
      const answer = await fail()
      if (answer.outcome !== 'refused' || answer.refusal.reason !== 'locked') throw new Error('not locked')
      advance(answer.refusal.retryAfterSeconds)
      return answer.refusal.retryAfterSeconds
    }
    for (const hours of [0.5, 1, 2, 4, 8, 16, 24, 24]) expect(await lockSeconds()).toBe(hours * 3_600)
    advance(86_400)
    expect(await lockSeconds()).toBe(1_800)
  })

  test('forgets failures that are older than a day', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const fail = () => mfa.verify({ method: 'app', contact, kind: 'code', code: '123456' })
    for (let i = 0; i < 9; i++) await fail()
    advance(86_401)
    for (let i = 0; i < 9; i++) expect(await fail()).toEqual(invalid)
    expect(await fail()).toEqual(invalid)
    expect(await fail()).toMatchObject({ outcome: 'refused' })
  })

  test('forgives the failures of the challenge that succeeded and no others (R25)', async () => {
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    for (let i = 0; i < 6; i++) await mfa.verify({ method: 'app', contact, kind: 'code', code: '123456' })
    for (let round = 0; round < 3; round++) {
      await mfa.send({ method: 'sms', contact })
      for (let i = 0; i < 3; i++)
        await mfa.verify({ method: 'sms', contact, kind: 'code', code: wrong(lastCode()) })
      expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })).toEqual(valid)
    }
    for (let i = 0; i < 4; i++) await mfa.verify({ method: 'app', contact, kind: 'code', code: '123456' })
    expect(await mfa.send({ method: 'sms', contact })).toMatchObject({ refusal: { reason: 'locked' } })
  })

  test('does not reset the count of failures by sending a new code (R24)', async () => {
    const { mfa, lastCode } = freshTenant(bench())
    const contact = freshPhone()
    for (let round = 0; round < 2; round++) {
      await mfa.send({ method: 'sms', contact })
      for (let i = 0; i < 5; i++)
        await mfa.verify({ method: 'sms', contact, kind: 'code', code: wrong(lastCode()) })
    }
    expect(await mfa.send({ method: 'sms', contact })).toMatchObject({ refusal: { reason: 'locked' } })
  })

  test('disables a contact after its hard cap until a code for binding it comes back (R26)', async () => {
    const { mfa, lastCode } = freshTenant(bench(), { limits: { failuresBeforeDisable: 20 } })
    const contact = freshPhone()
    for (let failures = 0; failures < 20; ) {
      if (failures > 0 && failures % 10 === 0) advance(86_400)
      await mfa.send({ method: 'sms', contact })
      for (let i = 0; i < 5; i++, failures++) {
        await mfa.verify({ method: 'sms', contact, kind: 'code', code: wrong(lastCode()) })
      }
    }
    advance(86_400)
    const disabled = { outcome: 'refused', refusal: { reason: 'factor_disabled' } }
    expect(await mfa.send({ method: 'sms', contact })).toEqual(disabled)
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: '123456' })).toEqual(disabled)
    await mfa.send({ method: 'sms', contact, purpose: 'enrollment' })
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })).toEqual(valid)
    await mfa.send({ method: 'sms', contact })
    expect(await mfa.verify({ method: 'sms', contact, kind: 'code', code: lastCode() })).toEqual(valid)
  })
}
