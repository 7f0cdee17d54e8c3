import { expect, test } from 'vitest'
import type { RequestOf } from '../../../src/protocol/service.js'
import { everyCase } from '../../../test/kit/every-case.js'
import {
  advance,
  appCode,
  type Bench,
  freshEmail,
  freshPhone,
  freshTenant,
  type Tenant,
  wrong,
} from '../kit.js'

const invalid = { outcome: 'invalid' }
const valid = { outcome: 'valid' }

const contact = freshPhone()
const of = { contact, account: 'one' } as const

/** Wrong app codes in a transaction; the clock moves as while a user types. */
async function failApp({ mfa }: Tenant, times: number, transaction?: string): Promise<void> {
  for (let i = 0; i < times; i++) {
    const attempt = { ...of, method: 'app', kind: 'code', code: '000000' } as const
    expect(await mfa.verify({ ...attempt, ...(transaction && { transaction }) })).toEqual(invalid)
    advance(1)
  }
}

async function enroll({ mfa }: Tenant): Promise<string> {
  const prepared = await mfa.enrollApp(of)
  if (prepared.outcome !== 'prepared') throw new Error('not prepared')
  const { secret = '' } = prepared
  const code = appCode(secret, Date.now() - 30_000)
  expect(await mfa.verify({ ...of, method: 'app', kind: 'confirm', code })).toEqual(valid)
  return secret
}

async function isLocked({ mfa }: Tenant): Promise<boolean> {
  const answer = await mfa.send({ method: 'email', contact: freshEmail(), account: 'one' })
  return answer.outcome === 'refused' && answer.refusal.reason === 'locked'
}

async function send(tenant: Tenant, transaction?: string) {
  const answer = await tenant.mfa.send({ ...of, method: 'sms', ...(transaction && { transaction }) })
  if (answer.outcome === 'refused') throw new Error(answer.refusal.reason)
  const name = transaction && { transaction }
  const verification = {
    ...of,
    method: 'sms',
    kind: 'code',
    challenge: answer.challenge ?? '',
    ...name,
  } as const
  return { ...verification, code: tenant.lastCode() }
}

export function transactionsSuite(bench: () => Bench, isAtOnceOnly = false): void {
  test('challenges of many transactions have five attempts each and share the ten of the account (R22, R23)', async () => {
    const tenant = freshTenant(bench())
    const attempt = async (transaction: string) => {
      const { code, ...rest } = await send(tenant, transaction)
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => tenant.mfa.verify({ ...rest, code: wrong(code) })),
      )
      return answers.filter((answer) => answer.outcome === 'invalid').length
    }
    await attempt('a')
    const row = () =>
      bench().store.query<{ attempts: number }>(
        'SELECT sum(attempts)::integer AS attempts FROM challenge WHERE application = $1',
        [tenant.application.id],
      )
    expect(await row()).toEqual([{ attempts: 5 }])
    const challenges = [await send(tenant, 'b'), await send(tenant, 'c')]
    await Promise.all(
      challenges.flatMap(({ code, ...rest }) =>
        Array.from({ length: 50 }, () => tenant.mfa.verify({ ...rest, code: wrong(code) })),
      ),
    )
    expect(await row()).toEqual([{ attempts: 10 }])
    expect(await isLocked(tenant)).toBe(true)
  })

  if (isAtOnceOnly) return

  test('a valid code forgives the wrong app and backup codes of its transaction (R25)', async () => {
    const tenant = freshTenant(bench())
    const secret = await enroll(tenant)
    for (let day = 0; day < 4; day++) {
      await failApp(tenant, 4, `t${day}`)
      const backup = { ...of, method: 'sms', kind: 'backup', code: 'AAAABBBBCCCCDDDD' } as const
      for (let i = 0; i < 4; i++)
        expect(await tenant.mfa.verify({ ...backup, transaction: `t${day}` })).toEqual(invalid)
      const right = { ...of, method: 'app', kind: 'code', code: appCode(secret) } as const
      expect(await tenant.mfa.verify({ ...right, transaction: `t${day}` })).toEqual(valid)
      advance(60)
    }
    const counted = await bench().store.query(
      'SELECT coalesce(sum(failures), 0)::integer AS failures FROM factor WHERE application = $1',
      [tenant.application.id],
    )
    expect(counted).toEqual([{ failures: 0 }])
    await failApp(tenant, 9, 'another')
    expect(await isLocked(tenant)).toBe(false)
    await failApp(tenant, 1, 'another')
    expect(await isLocked(tenant)).toBe(true)
  })

  test("the victim's success forgives no failures of the attacker's transaction, or without a transaction (R25)", async () => {
    const tenant = freshTenant(bench())
    const secret = await enroll(tenant)
    await failApp(tenant, 5, 'attacker')
    await failApp(tenant, 4)
    for (let i = 0; i < 3; i++) {
      const right = { ...of, method: 'app', kind: 'code', code: appCode(secret) } as const
      expect(await tenant.mfa.verify({ ...right, transaction: 'victim' })).toEqual(valid)
      advance(60)
    }
    await failApp(tenant, 1, 'attacker')
    expect(await isLocked(tenant)).toBe(true)
  })

  test('a success in a transaction forgives only the wrong delivered codes of its own challenge (R24, R25)', async () => {
    const tenant = freshTenant(bench())
    for (let round = 0; round < 2; round++) {
      const { code, ...first } = await send(tenant, 't')
      for (let i = 0; i < 4; i++)
        expect(await tenant.mfa.verify({ ...first, code: wrong(code) })).toEqual(invalid)
    }
    expect(await tenant.mfa.verify(await send(tenant, 't'))).toEqual(valid)
    const { code, ...last } = await send(tenant, 't')
    for (let i = 0; i < 2; i++)
      expect(await tenant.mfa.verify({ ...last, code: wrong(code) })).toEqual(invalid)
    expect(await isLocked(tenant)).toBe(true)
  })

  test("an attacker's transaction does not void the victim's code (R38, R39)", async () => {
    const tenant = freshTenant(bench())
    const victim = await send(tenant, 'victim')
    await send(tenant, 'attacker')
    await send(tenant, 'attacker')
    expect(await tenant.mfa.verify(victim)).toEqual(valid)
  })

  test('a code is not accepted in another transaction, with or without its challenge (R38)', async () => {
    const tenant = freshTenant(bench())
    const victim = await send(tenant, 'victim')
    const { challenge: _challenge, ...unnamed } = victim
    for (const right of [victim, unnamed]) {
      expect(await tenant.mfa.verify({ ...right, transaction: 'attacker' })).toEqual(invalid)
      const { transaction: _transaction, ...bare } = right
      expect(await tenant.mfa.verify(bare)).toEqual(invalid)
    }
    expect(await tenant.mfa.verify(unnamed)).toEqual(valid)
  })

  test('repeats a code in its own transaction only (R38, R39)', async () => {
    const tenant = freshTenant(bench())
    const victim = await send(tenant, 'victim')
    advance(30)
    const again = { ...of, method: 'sms', challenge: victim.challenge } as const
    expect(await tenant.mfa.send({ ...again, transaction: 'victim' })).toMatchObject({
      challenge: victim.challenge,
    })
    expect(tenant.lastCode()).toBe(victim.code)
    expect(await tenant.mfa.send({ ...again, transaction: 'attacker' })).toMatchObject({ outcome: 'sent' })
    expect(tenant.lastCode()).not.toBe(victim.code)
  })

  test('a new code voids the older one of its own transaction (R39)', async () => {
    const tenant = freshTenant(bench())
    const older = await send(tenant, 't')
    const newer = await send(tenant, 't')
    expect(await tenant.mfa.verify(older)).toEqual(invalid)
    expect(await tenant.mfa.verify(newer)).toEqual(valid)
  })

  test('a new code without a transaction voids those of every transaction (R39)', async () => {
    const tenant = freshTenant(bench())
    const older = await send(tenant, 't')
    const newer = await send(tenant)
    expect(await tenant.mfa.verify(older)).toEqual(invalid)
    expect(await tenant.mfa.verify(newer)).toEqual(valid)
  })

  test('a new code without a transaction voids none of another user, recipient, method or purpose (R38, R39)', async () => {
    const changes: Readonly<Record<string, Partial<RequestOf<'send'>>>> = {
      user: { account: 'another' },
      recipient: { contact: freshPhone() },
      method: { method: 'call' },
      purpose: { purpose: 'step-up' },
    }
    await everyCase(Object.entries(changes), async ([, change]) => {
      const tenant = freshTenant(bench())
      const kept = await send(tenant, 't')
      expect(await tenant.mfa.send({ ...of, method: 'sms', ...change })).toMatchObject({ outcome: 'sent' })
      expect(await tenant.mfa.verify(kept)).toEqual(valid)
    })
  })

  test('a new code without a transaction leaves the time at which another one was used', async () => {
    const tenant = freshTenant(bench())
    expect(await tenant.mfa.verify(await send(tenant, 't'))).toEqual(valid)
    const usedAt = Date.now()
    advance(1)
    await send(tenant)
    const ended = await bench().store.query(
      'SELECT ended_at FROM challenge WHERE application = $1 AND ended_at IS NOT NULL',
      [tenant.application.id],
    )
    expect(ended).toEqual([{ ended_at: usedAt }])
  })

  test('a code that is sent again without a transaction voids none of a transaction (R39)', async () => {
    const tenant = freshTenant(bench())
    const { challenge } = await send(tenant)
    const kept = await send(tenant, 't')
    advance(30)
    expect(await tenant.mfa.send({ ...of, method: 'sms', challenge })).toMatchObject({ challenge })
    expect(await tenant.mfa.verify(kept)).toEqual(valid)
  })
}
