import type { CompleteMfaService, Contact } from 'countersign/protocol'
import { expect, test } from 'vitest'
import type { FlowContext } from '../../src/flows/context.js'
import { inProcessService } from '../../src/flows/in-process-service.js'
import type { QueuedMessage } from '../../src/messages/delivery/queued-message.js'
import {
  advance,
  answersAtOnce,
  appCode,
  type Bench,
  freshEmail,
  freshPhone,
  freshTenant,
  rejection,
  type Tenant,
  wrong,
} from '../kit.js'

const invalid = { outcome: 'invalid' }
const valid = expect.objectContaining({ outcome: 'valid' })
const locked = expect.objectContaining({ refusal: expect.objectContaining({ reason: 'locked' }) })

/** The notices of an attempt, as `verifyCode` writes them. */
export function noticesSuite(bench: () => Bench, isAtOnceOnly = false): void {
  const rows = (tenant: Tenant, columns: string, table: string, where = 'true') =>
    bench().store.query<Record<string, unknown>>(
      `SELECT ${columns} FROM ${table} WHERE application = $1 AND ${where}`,
      [tenant.application.id],
    )
  /** The tenant's service with some parts replaced. */
  const over = (tenant: Tenant, parts: Partial<FlowContext>) =>
    inProcessService({ ...bench().context, ...parts }, async () => tenant.application)
  /** A service that dies after each commit: nothing happens beyond what it wrote. */
  const dyingAfterwards = (tenant: Tenant) =>
    over(tenant, { outbox: { ...bench().context.outbox, dispatch: async () => ({ outcome: 'queued' }) } })
  /** A service that dies before it can commit a transaction. */
  const dyingBefore = (tenant: Tenant) => {
    const { store } = bench()
    return over(tenant, {
      store: {
        ...store,
        transaction: (work) =>
          store.transaction(async (tx) => {
            await work(tx)
            throw new Error('killed')
          }),
      },
    })
  }
  /** A service whose transactions fail to commit once, and are repeated; and what it hands over. */
  const repeating = (tenant: Tenant) => {
    const { store, outbox } = bench().context
    const handedOver: QueuedMessage[] = []
    const mfa = over(tenant, {
      store: {
        ...store,
        transaction: async (work) => {
          await rejection(
            store.transaction(async (tx) => {
              await work(tx)
              throw new Error('could not serialize access')
            }),
          )
          return store.transaction(work)
        },
      },
      outbox: {
        ...outbox,
        dispatch: (messages) => {
          handedOver.push(...messages)
          return outbox.dispatch(messages)
        },
      },
    })
    return { mfa, handedOver }
  }
  const notices = async (tenant: Tenant) => {
    advance(15)
    await bench().context.outbox.poll()
    return tenant
      .sent()
      .filter(({ purpose }) => purpose === 'notice')
      .map(({ to }) => to)
  }

  const attempt = (mfa: CompleteMfaService, contact: Contact & { kind: 'email' | 'phone' }) =>
    mfa.verify({ method: 'app', contact, kind: 'code', code: '000000' })
  /** The code that binds the new app of a user who has shown an emailed code. */
  const firstAppCode = async (tenant: Tenant, contact: Contact & { kind: 'email' }) => {
    await tenant.mfa.send({ method: 'email', contact })
    await tenant.mfa.verify({ method: 'email', contact, kind: 'code', code: tenant.lastCode() })
    const prepared = await tenant.mfa.enrollApp({ contact })
    return appCode(('secret' in prepared && prepared.secret) || '')
  }

  const backupCode = async (tenant: Tenant, contact: Contact & { kind: 'email' }) => {
    await tenant.mfa.sendBackupCodes({ method: 'email', contact })
    return tenant.sent().findLast(({ codes }) => codes)?.codes?.[0] ?? 'none was sent'
  }

  test('of 100 concurrent last attempts one is evaluated, and the user is notified once (R22, R23)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    for (let i = 0; i < 9; i++) await attempt(tenant.mfa, contact)
    const last = { method: 'sms', contact, kind: 'backup', code: 'AAAA-BBBB-CCCC-DDDD' } as const
    const answers = await Promise.all(Array.from({ length: 100 }, () => tenant.mfa.verify(last)))
    expect(answers.filter(({ outcome }) => outcome === 'invalid')).toHaveLength(1)
    expect(answers.filter(({ outcome }) => outcome === 'refused')).toHaveLength(99)
    expect(await rows(tenant, 'jsonb_array_length(failures) AS n', 'account')).toEqual([{ n: 10 }])
    // Otherwise its lease would end in `notices` while it is being sent.
    await expect.poll(() => rows(tenant, 'id', 'outbox', "state = 'sent'")).toHaveLength(1)
    expect(await notices(tenant)).toEqual([contact.phone])
  })

  test('of 100 submissions of the correct code before a lock one is accepted (R21, R37)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    await tenant.mfa.send({ method: 'sms', contact })
    for (let i = 0; i < 9; i++) await attempt(tenant.mfa, contact)
    const right = { method: 'sms', contact, kind: 'code', code: tenant.lastCode() } as const
    const answers = await answersAtOnce(100, () => tenant.mfa.verify(right))
    expect(answers.filter(({ outcome }) => outcome === 'valid')).toHaveLength(1)
  })

  if (isAtOnceOnly) return

  test('a lock and its notice are written together or not at all (R34)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    for (let i = 0; i < 9; i++) expect(await attempt(tenant.mfa, contact)).toEqual(invalid)
    const wrongCode = { method: 'sms', contact, kind: 'backup', code: 'AAAA-BBBB-CCCC-DDDD' } as const
    await rejection(dyingBefore(tenant).verify(wrongCode))
    expect(await rows(tenant, 'jsonb_array_length(failures) AS n', 'account')).toEqual([{ n: 9 }])
    expect(await notices(tenant)).toEqual([])
    expect(await dyingAfterwards(tenant).verify(wrongCode)).toEqual(invalid)
    expect(await attempt(tenant.mfa, contact)).toEqual(locked)
    expect(await notices(tenant)).toEqual([contact.phone])
  })

  test('wrong codes for a new app that lock the account are said to have locked it (R34)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    const code = wrong(await firstAppCode(tenant, contact))
    const first = { method: 'app', contact, kind: 'confirm', code } as const
    for (let i = 0; i < 10; i++) expect(await tenant.mfa.verify(first)).toEqual(invalid)
    await expect.poll(() => rows(tenant, 'id', 'outbox', "state <> 'sent'")).toEqual([])
    expect(await notices(tenant)).toEqual([contact.email])
    expect(tenant.sent().at(-1)?.text).toContain('wrong')
  })

  test('a code that approves a request is none of the backup codes, so no notice says that one was used (R63)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    const approval = { digest: 'A'.repeat(43), lines: [{ label: 'To', value: 'Ana' }] }
    const asked = { method: 'sms', contact, transaction: 'approval-1', approval } as const
    await tenant.mfa.send({ ...asked, purpose: 'approval' })
    expect(await tenant.mfa.verify({ ...asked, kind: 'code', code: tenant.lastCode() })).toEqual(valid)
    expect(await notices(tenant)).toEqual([])
  })

  test('the binding of an app and its notice are written together or not at all (R61)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    const code = await firstAppCode(tenant, contact)
    const first = { method: 'app', contact, kind: 'confirm', code } as const
    await rejection(dyingBefore(tenant).verify(first))
    expect(await rows(tenant, 'sealed', 'app_secret')).toEqual([{ sealed: null }])
    expect(await notices(tenant)).toEqual([])
    expect(await dyingAfterwards(tenant).verify(first)).toEqual(valid)
    expect(await notices(tenant)).toEqual([contact.email])
  })

  test('the use of a backup code and its notice are written together or not at all (R63)', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    const code = await backupCode(tenant, contact)
    const typed = { method: 'email', contact, kind: 'backup', code } as const
    await rejection(dyingBefore(tenant).verify(typed))
    expect(await notices(tenant)).toEqual([])
    expect(await dyingAfterwards(tenant).verify(typed)).toEqual(valid)
    expect(await notices(tenant)).toEqual([contact.email])
  })

  test('the removal of a factor and its notices to every proven contact are written together or not at all (R61)', async () => {
    const tenant = freshTenant(bench())
    const [email, phone] = [freshEmail(), freshPhone()]
    const account = 'u-1'
    for (const [method, contact] of [['email', email] as const, ['sms', phone] as const]) {
      await tenant.mfa.send({ method, contact, account })
      const code = tenant.lastCode()
      expect(await tenant.mfa.verify({ method, contact, account, kind: 'code', code })).toEqual(valid)
    }
    await tenant.mfa.createBackupCodes?.({ contact: email, account })
    // The codes to both contacts, and the notice of the new codes to one of them.
    await expect.poll(() => rows(tenant, 'id', 'outbox', "state = 'sent'")).toHaveLength(3)
    expect(await notices(tenant)).toEqual([email.email])
    const request = { contact: email, account, factor: 'backup' } as const
    await rejection(dyingBefore(tenant).removeFactor?.(request) ?? Promise.resolve())
    expect(await rows(tenant, 'mac', 'backup_code')).toHaveLength(10)
    expect(await dyingAfterwards(tenant).removeFactor?.(request)).toEqual({ outcome: 'removed' })
    expect(await rows(tenant, 'mac', 'backup_code')).toEqual([])
    expect((await notices(tenant)).slice(1).sort()).toEqual([phone.phone, email.email])
    expect(await tenant.mfa.removeFactor?.(request)).toEqual({ outcome: 'none' })
    expect(await notices(tenant)).toHaveLength(3)
  })

  test('a removal whose transaction is repeated sends its notice once', async () => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    await tenant.mfa.send({ method: 'email', contact })
    await tenant.mfa.verify({ method: 'email', contact, kind: 'code', code: tenant.lastCode() })
    await tenant.mfa.createBackupCodes?.({ contact })
    const { mfa, handedOver } = repeating(tenant)
    expect(await mfa.removeFactor?.({ contact, factor: 'backup' })).toEqual({ outcome: 'removed' })
    expect(handedOver.map(({ purpose, to }) => [purpose, to])).toEqual([['notice', contact.email]])
    const id = handedOver[0]?.id ?? ''
    expect(await rows(tenant, 'id', 'outbox', `id = '${id}'`)).toEqual([{ id }])
  })

  test.each([
    [
      'the database refuses it',
      (tx: { query(text: string): Promise<unknown> }) => tx.query('SELECT nonsense'),
    ],
    ['it cannot be written at all', () => Promise.reject(new Error('the notice cannot be composed'))],
  ])('an attempt counts even if its notice fails because %s', async (_why, fail) => {
    const tenant = freshTenant(bench())
    const contact = freshEmail()
    const code = await backupCode(tenant, contact)
    const mfa = over(tenant, {
      outbox: { ...bench().context.outbox, enqueue: (tx) => fail(tx).then(() => []) },
    })
    expect(await mfa.verify({ method: 'email', contact, kind: 'backup', code })).toEqual(valid)
    expect(await mfa.verify({ method: 'email', contact, kind: 'backup', code })).toEqual(invalid)
    for (let i = 0; i < 9; i++)
      expect(await mfa.verify({ method: 'email', contact, kind: 'backup', code })).toEqual(invalid)
    expect(await attempt(mfa, contact)).toEqual(locked)
    const lost = bench().events.filter(({ event, application }) => {
      return event === 'notice.failed' && application === tenant.application.id
    })
    expect(lost.map(({ reason }) => reason)).toEqual(['backup-used', 'locked'])
  })

  /** The tenant's service, and how many statements it has sent to the database. */
  const counting = (tenant: Tenant) => {
    const asked = { statements: 0, transactions: 0 }
    const { store } = bench()
    const mfa = over(tenant, {
      store: {
        ...store,
        query(...statement) {
          asked.statements++
          return store.query(...statement)
        },
        transaction(work) {
          asked.transactions++
          return store.transaction(work)
        },
      },
    })
    return { mfa, asked }
  }

  test('a correct code and a wrong one without a notice cost one statement each', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    await tenant.mfa.send({ method: 'sms', contact })
    const { mfa, asked } = counting(tenant)
    const code = tenant.lastCode()
    const typed = { method: 'sms', contact, kind: 'code' } as const
    expect(await mfa.verify({ ...typed, code: wrong(code) })).toEqual(invalid)
    expect(asked).toEqual({ statements: 1, transactions: 0 })
    expect(await mfa.verify({ ...typed, code })).toEqual(valid)
    expect(asked).toEqual({ statements: 2, transactions: 0 })
  })

  test('no attempt at a locked account opens a transaction, whatever its kind', async () => {
    const tenant = freshTenant(bench())
    const contact = freshPhone()
    for (let i = 0; i < 10; i++) await attempt(tenant.mfa, contact)
    const { mfa, asked } = counting(tenant)
    expect(await attempt(mfa, contact)).toEqual(locked)
    const backup = { method: 'sms', contact, kind: 'backup', code: 'AAAA-BBBB-CCCC-DDDD' } as const
    expect(await mfa.verify(backup)).toEqual(locked)
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code: '000000' })).toEqual(locked)
    expect(asked.transactions).toBe(0)
  })
}
