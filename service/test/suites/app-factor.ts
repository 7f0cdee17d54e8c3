import { type AnswerOf, type CompleteMfaService, type Contact, VERBS } from 'countersign/protocol'
import { expect, test } from 'vitest'
import { readQrCode } from '../../../test/kit/qr-code.js'
import { parseVerb } from '../../src/flows/inputs.js'
import { verifyCode } from '../../src/flows/verify-code.js'
import {
  advance,
  answersAtOnce,
  appCode,
  type Bench,
  eventually,
  freshEmail,
  freshTenant,
  rejection,
} from '../kit.js'

const invalid = { outcome: 'invalid' }
const refusedWithHint = (clockSteps: number) => ({ outcome: 'invalid', clockSteps })
const valid = { outcome: 'valid' }

type Prepared = AnswerOf<'enrollApp'> & { outcome: 'prepared' }

async function prepare(
  mfa: CompleteMfaService,
  contact: Contact & { kind: 'email' },
): Promise<Required<Prepared>> {
  const answer = await mfa.enrollApp({ contact })
  if (answer.outcome !== 'prepared' || !answer.uri || !answer.secret) throw new Error('nothing was prepared')
  return { ...answer, uri: answer.uri, secret: answer.secret }
}

async function enroll(mfa: CompleteMfaService, contact: Contact & { kind: 'email' }): Promise<string> {
  const { secret } = await prepare(mfa, contact)
  const code = appCode(secret, Date.now() - 30_000)
  expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code })).toEqual(valid)
  return secret
}

export function appFactorSuite(bench: () => Bench, isAtOnceOnly = false): void {
  test('accepts one of 200 concurrent submissions of an app code (R51)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const secret = await enroll(mfa, contact)
    const right = { method: 'app', contact, kind: 'code', code: appCode(secret) } as const
    const answers = await answersAtOnce(200, () => mfa.verify(right))
    expect(answers.filter((answer) => answer.outcome === 'valid')).toHaveLength(1)
  })

  if (isAtOnceOnly) return

  test('creates a readable QR code with encoded label and issuer and a secret of 160 bits (R53, R56)', async () => {
    const { mfa } = freshTenant(bench(), { name: 'Va:ult & Söhne' })
    const contact = { kind: 'email', email: 'a+b@example.com' } as const
    const { qr, uri, secret } = await prepare(mfa, contact)
    expect(readQrCode(qr)).toBe(uri)
    // The one colon of the label separates the issuer from the account.
    expect(uri).toContain(
      'otpauth://totp/Va%20ult%20%26%20S%C3%B6hne:a%2Bb%40example.com?issuer=Va%20ult%20%26%20S%C3%B6hne',
    )
    expect(uri).toContain(`secret=${secret}`)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  })

  test('does not accept codes of an app before it is confirmed (R54)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const { secret } = await prepare(mfa, contact)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(secret) })).toEqual(invalid)
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code: appCode(secret) })).toEqual(
      valid,
    )
    advance(30)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(secret) })).toEqual(valid)
  })

  test('does not confirm an app after 15 minutes, even for a client that names no kind (R98)', async () => {
    const tenant = freshTenant(bench())
    const confirm = async (seconds: number, kind: { readonly Kind?: 'CONFIRM' }) => {
      const contact = freshEmail()
      const { secret } = await prepare(tenant.mfa, contact)
      advance(seconds)
      const parsed = parseVerb(VERBS.verify, {
        User: contact.email,
        Type: 'APP',
        Code: appCode(secret),
        ...kind,
      })
      if (!parsed.ok) throw new Error('The request is invalid.')
      return (await verifyCode(bench().context, tenant.application, parsed.value)).outcome
    }
    for (const kind of [{ Kind: 'CONFIRM' }, {}] as const) {
      expect(await confirm(15 * 60 - 1, kind)).toBe('valid')
      expect(await confirm(15 * 60, kind)).toBe('invalid')
    }
  })

  test('keeps a confirmed app when a new one is never confirmed (R54, R98)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const old = await enroll(mfa, contact)
    const { secret } = await prepare(mfa, contact)
    advance(16 * 60)
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code: appCode(secret) })).toEqual(
      invalid,
    )
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(old) })).toEqual(valid)
  })

  test('lives as long as the application says (R98)', async () => {
    const { mfa } = freshTenant(bench(), { limits: { enrollmentLifetime: '1h' } })
    const contact = freshEmail()
    const { secret } = await prepare(mfa, contact)
    advance(59 * 60)
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code: appCode(secret) })).toEqual(
      valid,
    )
  })

  test('notifies the owner of a confirmed app at the contact that it was enrolled under (R98)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    await enroll(tenant.mfa, contact)
    await eventually(() =>
      expect(tenant.sent().map(({ to, purpose }) => [to, purpose])).toContainEqual([contact.email, 'notice']),
    )
    const nameless = { kind: 'email', email: 'u-1@account.invalid' } as const
    await enroll(tenant.mfa, nameless)
    expect(tenant.sent().map(({ to }) => to)).not.toContain(nameless.email)
  })

  test('does not accept the step that confirmed an app again (R51)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const { secret } = await prepare(mfa, contact)
    const code = appCode(secret)
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code })).toEqual(valid)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code })).toEqual(invalid)
  })

  test('accepts the current and the previous step, and no other (R50)', async () => {
    for (const [offsetSeconds, expected] of [
      [-60, refusedWithHint(-2)],
      [-30, valid],
      [0, valid],
      [30, invalid],
      [60, invalid],
    ] as const) {
      const { mfa } = freshTenant(bench())
      const contact = freshEmail()
      const secret = await enroll(mfa, contact)
      advance(90)
      const code = appCode(secret, Date.now() + offsetSeconds * 1000)
      expect(await mfa.verify({ method: 'app', contact, kind: 'code', code })).toEqual(expected)
    }
  })

  test('accepts one step ahead if the operator allows it, but not two', async () => {
    const { mfa } = freshTenant(bench(), { limits: { appStepsAhead: 1 } })
    const contact = freshEmail()
    const secret = await enroll(mfa, contact)
    advance(90)
    const at = (steps: number) => appCode(secret, Date.now() + steps * 30_000)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: at(2) })).toEqual(invalid)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: at(1) })).toEqual(valid)
  })

  test('accepts each step once, and no earlier step afterwards, even if the clock goes back (R51, R52, R57)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const secret = await enroll(mfa, contact)
    advance(90)
    const before = appCode(secret, Date.now() - 30_000)
    const code = appCode(secret)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code })).toEqual(valid)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code })).toEqual(invalid)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: before })).toEqual(invalid)
    advance(-30)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: before })).toEqual(invalid)
  })

  test('accepts the former app until the new one is confirmed (R55)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const old = await enroll(mfa, contact)
    await prepare(mfa, contact)
    const { secret } = await prepare(mfa, contact)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(old) })).toEqual(valid)
    advance(60)
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code: appCode(old) })).toEqual(invalid)
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code: appCode(secret) })).toEqual(
      valid,
    )
    advance(30)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(old) })).toEqual(invalid)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(secret) })).toEqual(valid)
  })

  test('reveals how many steps ago an unused code was valid, up to ten minutes, and nothing about a future code', async () => {
    for (const [steps, expected] of [
      [-21, invalid],
      [-20, refusedWithHint(-20)],
      [-8, refusedWithHint(-8)],
      [1, invalid],
      [4, invalid],
    ] as const) {
      const { mfa } = freshTenant(bench())
      const contact = freshEmail()
      const secret = await enroll(mfa, contact)
      advance(3_600)
      const code = appCode(secret, Date.now() + steps * 30_000)
      const typed = { method: 'app', contact, code } as const
      expect(await mfa.verify({ ...typed, kind: 'code' })).toEqual(expected)
      expect(await mfa.verify({ ...typed, kind: 'confirm' })).toEqual(invalid)
    }
  })

  test('reveals it for the first code of a new app too, without binding the app (R54)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const { secret } = await prepare(mfa, contact)
    const code = appCode(secret, Date.now() - 240_000)
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code })).toEqual(refusedWithHint(-8))
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(secret) })).toEqual(invalid)
  })

  test('reveals nothing for a used code, an earlier one, or a code of another account (R33, R51)', async () => {
    const { mfa } = freshTenant(bench())
    const [contact, other] = [freshEmail(), freshEmail()]
    const secret = await enroll(mfa, contact)
    await enroll(mfa, other)
    advance(300)
    const [code, before] = [appCode(secret), appCode(secret, Date.now() - 90_000)]
    const verify = (typed: string, whose = contact) =>
      mfa.verify({ method: 'app', contact: whose, kind: 'code', code: typed })
    expect(await verify(code)).toEqual(valid)
    advance(120)
    expect(await verify(code)).toEqual(invalid)
    expect(await verify(before)).toEqual(invalid)
    advance(300)
    const passed = appCode(secret, Date.now() - 120_000)
    expect(await verify(passed, other)).toEqual(invalid)
    expect(await verify(passed, freshEmail())).toEqual(invalid)
    expect(await verify(passed)).toEqual(refusedWithHint(-4))
  })

  test('counts such a code as a wrong one, and reveals nothing while the account is locked (R23, R32)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const secret = await enroll(mfa, contact)
    advance(3_600)
    const code = appCode(secret, Date.now() - 240_000)
    for (let failures = 0; failures < 10; failures++) {
      expect(await mfa.verify({ method: 'app', contact, kind: 'code', code })).toEqual(refusedWithHint(-8))
    }
    for (const typed of [code, appCode(secret)]) {
      expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: typed })).toMatchObject({
        outcome: 'refused',
        refusal: { reason: 'locked' },
      })
    }
  })

  test('notifies a proven contact that an app was bound (R61)', async () => {
    const { mfa, sent, lastCode } = freshTenant(bench())
    const contact = freshEmail()
    await mfa.send({ method: 'email', contact })
    await mfa.verify({ method: 'email', contact, kind: 'code', code: lastCode() })
    await enroll(mfa, contact)
    await eventually(() => expect(sent().at(-1)).toMatchObject({ purpose: 'notice', to: contact.email }))
    expect(sent().at(-1)?.subject).toBe('Authenticator app added to your Vault account')
  })

  test('disables an app after 100 unforgiven failures until it is bound again (R26)', async () => {
    const { mfa } = freshTenant(bench())
    const contact = freshEmail()
    const secret = await enroll(mfa, contact)
    for (let failures = 0; failures < 100; failures++) {
      if (failures > 0 && failures % 10 === 0) advance(86_400)
      const code = appCode(secret, Date.now() - 600_000)
      expect(await mfa.verify({ method: 'app', contact, kind: 'code', code })).toMatchObject(invalid)
    }
    advance(86_400)
    const disabled = { outcome: 'refused', refusal: { reason: 'factor_disabled' } }
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(secret) })).toEqual(
      disabled,
    )
    const again = await enroll(mfa, contact)
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(again) })).toEqual(valid)
  })

  test('stores secrets encrypted, and bound to their account (R53)', async () => {
    const { mfa, application } = freshTenant(bench())
    const [victim, attacker] = [freshEmail(), freshEmail()]
    const secret = await enroll(mfa, victim)
    await enroll(mfa, attacker)
    const rows = await bench().store.query('SELECT * FROM app_secret WHERE application = $1', [
      application.id,
    ])
    expect(JSON.stringify(rows)).not.toContain(secret)
    await bench().store.query(
      `UPDATE app_secret SET sealed = (SELECT sealed FROM app_secret WHERE application = $1 AND account = $2)
       WHERE application = $1 AND account = $3`,
      [application.id, `contact:${attacker.email}`, `contact:${victim.email}`],
    )
    await rejection(mfa.verify({ method: 'app', contact: victim, kind: 'code', code: appCode(secret) }))
  })
}
