import { expect, test } from 'vitest'
import {
  advance,
  answersAtOnce,
  type Bench,
  DeliveryError,
  eventually,
  freshEmail,
  freshPhone,
  freshTenant,
  type Tenant,
  wrong,
} from '../kit.js'

const invalid = { outcome: 'invalid' }
const valid = expect.objectContaining({ outcome: 'valid' })

const codesOf = (tenant: Tenant) => tenant.sent().findLast((message) => message.codes)?.codes ?? []

export function backupCodesSuite(bench: () => Bench, isAtOnceOnly = false): void {
  test('accepts one of 200 concurrent submissions of a backup code (R60)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    const [code = ''] = codesOf(tenant)
    const verify = () => tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    const answers = await answersAtOnce(200, verify)
    expect(answers.filter((answer) => answer.outcome === 'valid')).toHaveLength(1)
  })

  if (isAtOnceOnly) return

  test('delivers ten codes of 80 bits, grouped for reading (R58)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    expect(await tenant.mfa.sendBackupCodes({ method: 'email', contact })).toEqual({
      outcome: 'sent',
      count: 10,
    })
    const codes = codesOf(tenant)
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
    expect(tenant.sent()[0]?.text).toContain(codes.join('\n'))
  })

  test('accepts each code once, in every spelling (R60)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    const [first = '', second = ''] = codesOf(tenant)
    const verify = (code: string) => tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    const typed = first.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
    expect(await verify(typed)).toEqual(valid)
    expect(await verify(first)).toEqual(invalid)
    expect(await verify(second)).toEqual(valid)
  })

  test('reports after a valid code, and only then, how many are left', async () => {
    const tenant = freshTenant(bench())
    const [contact, other] = [freshEmail(), freshEmail()]
    await tenant.mfa.sendBackupCodes({ method: 'email', contact: other })
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    const [first = '', second = ''] = codesOf(tenant)
    const verify = (code: string) => tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    expect(await verify(first)).toEqual({ outcome: 'valid', kind: 'backup', backupCodesLeft: 9 })
    expect(await verify(first)).toEqual(invalid)
    expect(await verify(second)).toEqual({ outcome: 'valid', kind: 'backup', backupCodesLeft: 8 })
    await tenant.mfa.send({ method: 'email', contact })
    const code = tenant.lastCode()
    expect(await tenant.mfa.verify({ method: 'email', contact, kind: 'code', code })).toEqual({
      outcome: 'valid',
    })
  })

  test('a new set invalidates every code of the former one (R61)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    const old = codesOf(tenant)
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    const verify = (code = '') => tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    // Ten wrong codes would lock the account.
    for (const code of old.slice(0, 9)) expect(await verify(code)).toEqual(invalid)
    expect(await verify(codesOf(tenant)[0])).toEqual(valid)
    const left = await bench().store.query('SELECT 1 FROM backup_code WHERE application = $1', [
      tenant.application.id,
    ])
    expect(left).toHaveLength(9)
  })

  test('returns codes for a page, stores only their hashes, and limits them as those that are sent (R59, R61)', async () => {
    const tenant = freshTenant(bench(), { limits: { sendsPerTenMinutes: 2 } })
    const contact = freshEmail()
    const create = () => tenant.mfa.createBackupCodes?.({ contact })
    const created = await create()
    if (created?.outcome !== 'created') throw new Error('No codes were created.')
    const [first = '', second = ''] = created.codes
    expect(first).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
    const stored = JSON.stringify(
      await bench().store.query('SELECT * FROM backup_code WHERE application = $1', [tenant.application.id]),
    )
    for (const code of created.codes) expect(stored).not.toContain(code.replaceAll('-', ''))
    const verify = (code: string) => tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    expect(await verify(first)).toMatchObject({ outcome: 'valid', backupDelivery: 'page' })
    // Messages that are still waiting do not bring back the set that they carry.
    bench().failNext(new DeliveryError('down', 'outage'))
    expect(await tenant.mfa.sendBackupCodes({ method: 'email', contact })).toMatchObject({
      outcome: 'queued',
    })
    expect(await create()).toMatchObject({ refusal: { reason: 'limited' } })
    advance(600)
    const newer = await create()
    if (newer?.outcome !== 'created') throw new Error('No codes were created.')
    await bench().context.outbox.poll()
    expect(await verify(second)).toEqual(invalid)
    expect(await verify(codesOf(tenant)[0] ?? '')).toEqual(invalid)
    expect(await verify(newer.codes[0] ?? '')).toMatchObject({ outcome: 'valid', backupDelivery: 'page' })
  })

  test('returns no codes and removes no factor while the account is locked (R27)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    await tenant.mfa.createBackupCodes?.({ contact })
    const code = 'AAAA-BBBB-CCCC-DDDD'
    for (let i = 0; i < 10; i++) await tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    const locked = { outcome: 'refused', refusal: { reason: 'locked', retryAfterSeconds: 1800 } }
    expect(await tenant.mfa.createBackupCodes?.({ contact })).toEqual(locked)
    expect(await tenant.mfa.removeFactor?.({ contact, factor: 'backup' })).toEqual(locked)
    expect((await tenant.mfa.factorsOf?.({ contact }))?.backupCodesLeft).toBe(10)
  })

  test('keeps the former set if the message with the new one fails for good (R61)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    const verify = (code: string) => tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    const [old = ''] = codesOf(tenant)
    bench().failNext(new DeliveryError('no such mailbox', 'contact', { contact: 'unknown' }))
    expect(await tenant.mfa.sendBackupCodes({ method: 'email', contact })).toMatchObject({
      refusal: { reason: 'contact_refused', detail: 'This phone number or mailbox does not exist.' },
    })
    expect(await verify(old)).toEqual(valid)
    const counted = await bench().store.query('SELECT 1 FROM backup_code WHERE application = $1', [
      tenant.application.id,
    ])
    expect(counted).toHaveLength(9)
  })

  test('keeps the former set until the message with the new one was handed over, then only the new one (R61)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    const verify = (code: string) => tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    const [one = '', two = ''] = codesOf(tenant)
    bench().failNext(new DeliveryError('down', 'outage'))
    expect(await tenant.mfa.sendBackupCodes({ method: 'email', contact })).toMatchObject({
      outcome: 'queued',
    })
    expect(await verify(one)).toEqual(valid)
    advance(60)
    await bench().context.outbox.poll()
    const [newer = ''] = codesOf(tenant)
    expect(newer).not.toBe(one)
    expect(await verify(two)).toEqual(invalid)
    expect(await verify(newer)).toEqual(valid)
  })

  test('a newer waiting set replaces an earlier waiting one, and exactly one set is active (R61)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    const down = () => new DeliveryError('down', 'outage')
    bench().failNext(down(), down())
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    advance(60)
    await bench().context.outbox.poll()
    const messages = tenant.sent().flatMap((message) => (message.codes ? [message.codes[0] ?? ''] : []))
    expect(messages).toHaveLength(2)
    const answers = await Promise.all(
      messages.map((code) => tenant.mfa.verify({ method: 'email', contact, kind: 'backup', code })),
    )
    expect(answers.filter((answer) => answer.outcome === 'valid')).toHaveLength(1)
  })

  test('activates DUAL codes when both messages were handed over (R61)', async () => {
    const tenant = freshTenant(bench())
    const contact = { kind: 'dual', email: freshEmail().email, phone: freshPhone().phone } as const
    const verify = (code: string) => tenant.mfa.verify({ method: 'dual', contact, kind: 'backup', code })
    bench().failNext(new DeliveryError('down', 'outage'))
    expect(await tenant.mfa.sendBackupCodes({ method: 'dual', contact })).toMatchObject({ outcome: 'queued' })
    const [code = ''] = codesOf(tenant)
    expect(await verify(code)).toEqual(invalid)
    advance(60)
    await bench().context.outbox.poll()
    expect(await verify(code)).toEqual(valid)
  })

  test('accepts a code only for the contact and account that received it', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    await tenant.mfa.sendBackupCodes({ method: 'email', contact, account: 'one' })
    const [code = ''] = codesOf(tenant)
    const right = { method: 'email', contact, account: 'one', kind: 'backup', code } as const
    expect(await tenant.mfa.verify({ ...right, account: 'two' })).toEqual(invalid)
    expect(await tenant.mfa.verify({ ...right, contact: freshEmail() })).toEqual(invalid)
    expect(await tenant.mfa.verify(right)).toEqual(valid)
  })

  test('never accepts a backup code as a delivered one, or the reverse (R91)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    await tenant.mfa.sendBackupCodes({ method: 'sms', contact })
    await tenant.mfa.send({ method: 'sms', contact })
    const [backup = ''] = codesOf(tenant)
    const delivered = tenant.lastCode()
    const verify = (kind: 'code' | 'backup' | 'confirm', code: string) =>
      tenant.mfa.verify({ method: 'sms', contact, kind, code })
    expect(await verify('code', backup)).toEqual(invalid)
    expect(await verify('backup', delivered)).toEqual(invalid)
    expect(await verify('confirm', delivered)).toEqual(invalid)
    expect(await verify('code', delivered)).toEqual(valid)
    expect(await verify('backup', backup)).toEqual(valid)
  })

  test('notifies the user that a backup code was used (R63)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    await tenant.mfa.sendBackupCodes({ method: 'sms', contact })
    await tenant.mfa.verify({ method: 'sms', contact, kind: 'backup', code: codesOf(tenant)[0] ?? '' })
    await eventually(() =>
      expect(tenant.sent().at(-1)).toMatchObject({ purpose: 'notice', to: contact.phone }),
    )
  })

  test('notifies another proven contact that codes were created (R61)', async () => {
    const tenant = freshTenant(bench())
    const email = freshEmail()
    await tenant.mfa.send({ method: 'email', contact: email, account: 'one' })
    const code = tenant.lastCode()
    await tenant.mfa.verify({ method: 'email', contact: email, account: 'one', kind: 'code', code })
    await tenant.mfa.sendBackupCodes({ method: 'sms', contact: freshPhone(), account: 'one' })
    await eventually(() =>
      expect(tenant.sent('email').at(-1)).toMatchObject({ purpose: 'notice', to: email.email }),
    )
  })

  test('counts wrong backup codes as failures of the account (R62)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    for (let i = 0; i < 5; i++) {
      await tenant.mfa.verify({ method: 'sms', contact, kind: 'backup', code: '0000000000000000' })
    }
    await tenant.mfa.send({ method: 'sms', contact })
    const attempt = { method: 'sms', contact, kind: 'code', code: wrong(tenant.lastCode()) } as const
    for (let i = 0; i < 5; i++) await tenant.mfa.verify(attempt)
    expect(await tenant.mfa.verify(attempt)).toMatchObject({ refusal: { reason: 'locked' } })
  })

  test('stores only salted, keyed hashes, which differ between sets (R59)', async () => {
    const tenant = freshTenant(bench())
    await tenant.mfa.sendBackupCodes({ method: 'email', contact: freshEmail() })
    const where = [tenant.application.id]
    const sets = await bench().store.query('SELECT * FROM backup_set WHERE application = $1', where)
    const codes = await bench().store.query('SELECT * FROM backup_code WHERE application = $1', where)
    expect(String(sets[0]?.salt).length).toBeGreaterThanOrEqual(22)
    const stored = JSON.stringify([sets, codes])
    for (const code of codesOf(tenant)) {
      expect(stored).not.toContain(code)
      expect(stored).not.toContain(code.replaceAll('-', ''))
    }
  })
}
