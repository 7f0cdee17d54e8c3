import { describe, expect, test } from 'vitest'
import { operator } from '../../src/operator/operator.js'
import { deriveKeys } from '../../src/store/secrets/keys.js'
import {
  advance,
  appCode,
  type Bench,
  freshEmail,
  freshPhone,
  freshTenant,
  rejection,
  SECRET,
  wrong,
} from '../kit.js'
import { keysOf, RELYING_PARTY, registerSoftwareKey } from '../software-key.js'

/** Listing, exporting and erasing accounts (R104). */
export function erasureSuite(bench: () => Bench, isAtOnceOnly = false): void {
  /** A tenant, and an operator for it. */
  async function withOperator() {
    const tenant = freshTenant(bench(), { relyingParty: RELYING_PARTY })
    const ann = operator(bench().store, 'ann', { keys: () => deriveKeys(SECRET) })
    await ann.createApplication(tenant.application.id)
    return { ...tenant, ann, application: tenant.application.id }
  }
  type Operated = Awaited<ReturnType<typeof withOperator>>

  const reference = ({ application }: Operated, user: string, isAccount = true) =>
    ({ application, mode: 'live', user, isAccount }) as const

  /** An account with everything that the service stores. */
  async function fill({ mfa, lastCode, application }: Operated, account: string) {
    const mailbox = freshEmail()
    const number = freshPhone()
    const by = { account, clientAddress: '192.0.2.7', locale: 'de' }
    await mfa.send({ method: 'email', contact: mailbox, ...by })
    await mfa.verify({ method: 'email', contact: mailbox, kind: 'code', code: lastCode(), ...by })
    await mfa.send({ method: 'sms', contact: number, transaction: 'login 7', ...by })
    const code = wrong(lastCode())
    await mfa.verify({ method: 'sms', contact: number, kind: 'code', code, transaction: 'login 7', ...by })
    const app = await mfa.enrollApp({ contact: mailbox, ...by })
    const secret = app.outcome === 'prepared' ? (app.secret ?? '') : ''
    const confirmed = { method: 'app', kind: 'confirm', code: appCode(secret) } as const
    expect(await mfa.verify({ ...confirmed, contact: mailbox, ...by })).toEqual({ outcome: 'valid' })
    await mfa.enrollApp({ contact: mailbox, ...by })
    await mfa.sendBackupCodes({ method: 'email', contact: mailbox, ...by })
    const user = { account, contact: mailbox }
    await registerSoftwareKey(mfa, user, 'passkey', { name: 'Blue' })
    const ceremony = { ...user, method: 'passkey', purpose: 'step-up', transaction: 'transfer' } as const
    await keysOf(mfa).authenticationOptions(ceremony)
    await bench().store.query(
      'INSERT INTO mail_complaint (application, email, complained_at) VALUES ($1, $2, $3)',
      [...[application, mailbox.email, Date.now()]],
    )
    return { email: mailbox.email, phone: number.phone, secret }
  }

  /** The tables in which a text occurs. */
  async function tablesWith(text: string): Promise<string[]> {
    const { store } = bench()
    const tables = await store.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = '${store.schema}'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
    )
    const found: string[] = []
    for (const { name } of tables) {
      const rows = await store.query(
        `SELECT FROM ${store.schema}.${name} AS t WHERE strpos(t::text, $1) > 0 LIMIT 1`,
        [text],
      )
      if (rows.length > 0) found.push(name)
    }
    return found
  }

  test('erasing an account while the user signs in and requests codes leaves all or nothing of the account (R104)', async () => {
    const tenant = await withOperator()
    const { ann, mfa, lastCode } = tenant
    const account = 'a user in a hurry'
    for (let round = 0; round < 8; round++) {
      const { email, secret } = await fill(tenant, account)
      const contact = { kind: 'email', email } as const
      advance(60)
      await mfa.send({ method: 'email', contact, account })
      const code = lastCode()
      const verify = () => mfa.verify({ method: 'email', contact, kind: 'code', code, account })
      const requests = [
        verify,
        () => mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(secret), account }),
        () => ann.eraseUser(reference(tenant, account)),
        () => mfa.send({ method: 'email', contact, account }),
        () => mfa.sendBackupCodes({ method: 'email', contact, account }),
        () => ann.eraseUser(reference(tenant, account)),
        verify,
      ]
      const first = round % requests.length
      await Promise.all([...requests.slice(first), ...requests.slice(0, first)].map((request) => request()))
      const { store } = bench()
      const own = [tenant.application, account]
      // The secret was stored before the erasure, so no order of the requests keeps it.
      expect(
        await store.query(
          "SELECT FROM app_secret WHERE application = $1 AND account = 'account:' || $2",
          own,
        ),
      ).toEqual([])
      const left = await tablesWith(account)
      if (left.length > 0) expect(left).toContain('account')
      expect((await verify()).outcome).not.toBe('valid')
      await ann.eraseUser(reference(tenant, account))
      expect(await tablesWith(account)).toEqual([])
      expect(await tablesWith(email)).toEqual([])
    }
  })

  if (isAtOnceOnly) return

  describe('erasing an account', () => {
    test('deletes all of it and nothing else, and leaves a keyed hash in the audit log (R104)', async () => {
      const tenant = await withOperator()
      const { ann } = tenant
      const erased = await fill(tenant, 'the user to erase')
      const kept = await fill(tenant, 'another user')
      await ann.disableFactor(reference(tenant, 'the user to erase'), erased.phone)
      await ann.disableFactor(reference(tenant, 'another user'), 'app')
      expect(await tablesWith('the user to erase')).toEqual([
        ...['account', 'account_key', 'app_secret', 'audit', 'backup_code', 'backup_set', 'budget'],
        ...['challenge', 'factor', 'key_challenge', 'key_user', 'outbox'],
      ])
      expect(await tablesWith(erased.phone)).toEqual(['account', 'budget', 'challenge', 'factor'])
      const before = await ann.exportUser(reference(tenant, 'another user'))

      const { reference: hash, deleted } = await ann.eraseUser(reference(tenant, 'the user to erase'))
      expect(deleted).toEqual({
        ...{ accounts: 1, factors: 1, secrets: 12, keys: 1, challenges: 3, messages: 5, counters: 3 },
      })
      for (const text of ['the user to erase', erased.email, erased.phone])
        expect(await tablesWith(text)).toEqual([])
      expect(await tablesWith(hash)).toEqual(['audit'])
      const { exported_at, ...same } = await ann.exportUser(reference(tenant, 'another user'))
      expect(before).toMatchObject(same)
      expect(kept.email).toBe(same.proven_email)
      const log = await ann.listAudit({ application: tenant.application, limit: 10 })
      expect(log.map(({ action, detail }) => [action, detail])).toEqual([
        ['user.exported', `account ${before.reference}`],
        ['user.erased', `account ${hash}`],
        ['user.exported', `account ${before.reference}`],
        ['factor.disabled', 'APP of another user'],
        ['factor.disabled', `PHONE ••• ${erased.phone.slice(-2)} of account ${hash}`],
        ['application.created', expect.anything()],
      ])
      expect(bench().events.filter(({ account }) => account === hash).length).toBeGreaterThan(5)
    })

    test('can be repeated, and a later request begins a new account (R104)', async () => {
      const tenant = await withOperator()
      const { ann, mfa } = tenant
      const contact = freshEmail()
      const user = reference(tenant, contact.email, false)
      for (let count = 0; count < 5; count++)
        expect((await mfa.send({ method: 'email', contact })).outcome).toBe('sent')
      expect((await mfa.send({ method: 'email', contact })).outcome).toBe('refused')
      const first = await ann.eraseUser(user)
      expect(first.deleted).toMatchObject({ accounts: 1, challenges: 1, messages: 5, counters: 2 })
      expect(await ann.eraseUser(user)).toEqual({ reference: first.reference, deleted: undefined })
      expect((await ann.listAudit({ application: tenant.application, limit: 10 })).length).toBe(2)
      expect((await rejection(ann.exportUser(user))).message).toContain('has no account')
      expect((await mfa.send({ method: 'email', contact })).outcome).toBe('sent')
      expect((await ann.eraseUser(user)).reference).toBe(first.reference)
    })
  })

  describe('exporting an account', () => {
    test('returns everything that is stored about it, without secrets and codes (R104)', async () => {
      const tenant = await withOperator()
      const { email, phone, secret } = await fill(tenant, 'user 7')
      const exported = await tenant.ann.exportUser(reference(tenant, 'user 7'))
      expect(JSON.parse(JSON.stringify(exported))).toEqual(exported)
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      expect(exported).toEqual({
        application: tenant.application,
        account: 'user 7',
        user: null,
        reference: expect.stringMatching(/^[0-9a-f]{12}$/),
        exported_at: time,
        proven_email: email,
        proven_phone: null,
        language: 'de',
        locked_until: null,
        locks: 0,
        wrong_codes: [{ at: time, factor: `PHONE:${phone}`, scope: expect.stringMatching(/^challenge:/) }],
        factors: [{ factor: `PHONE:${phone}`, wrong_codes: 1 }],
        last_used: expect.arrayContaining([{ factor: `EMAIL:${email}`, at: time }]),
        authenticator_app: { bound_at: time, last_code_of: time, pending_since: time },
        backup_codes: { contact: email, made_at: time, left: 10, waiting_contact: null, waiting_since: null },
        keys: [
          {
            ...{ id: expect.any(String), method: 'passkey', name: 'Blue', counter: expect.any(Number) },
            ...{ authenticator: '00000000-0000-0000-0000-000000000000', transports: ['usb'] },
            ...{ backup_eligible: false, backed_up: false, created_at: time, last_used_at: null },
          },
        ],
        key_user_handle: expect.stringMatching(/^[\w-]{43}$/),
        key_challenges: [
          { method: 'passkey', purpose: 'step-up', transaction: 'transfer', expires_at: time },
        ],
        challenges: [
          expect.objectContaining({ contact: email, method: 'email', purpose: 'sign-in', ended_at: time }),
          expect.objectContaining({ contact: phone, transaction: 'login 7', attempts: 1, ended_at: null }),
        ],
        messages: expect.arrayContaining([
          expect.objectContaining({
            channel: 'sms',
            status: 'sent',
            to: `••• ${phone.slice(-2)}`,
            settled_at: time,
          }),
        ]),
        events: [],
        approvals: [],
        spam_complaints: [{ email, at: time }],
        budgets: [
          { counts: 'account', key: 'user 7', sent_at: [time, time, time] },
          { counts: 'destination', key: phone, sent_at: [time] },
          { counts: 'destination', key: email, sent_at: [time, time] },
        ],
      })
      const text = JSON.stringify(exported)
      const codes = tenant
        .sent()
        .flatMap(({ code, codes = [] }) => [code ?? '', ...codes])
        .filter(Boolean)
      expect(codes.length).toBe(12)
      for (const part of [secret, ...codes]) expect(text).not.toContain(part)
      const hidden = await bench().store.query<{ hidden: string | null }>(
        `SELECT unnest(ARRAY[sealed, pending]) AS hidden FROM app_secret UNION SELECT mac FROM backup_code
         UNION SELECT salt FROM backup_set UNION SELECT code_mac FROM challenge
         UNION SELECT public_key FROM account_key UNION SELECT hash FROM key_challenge`,
      )
      for (const row of hidden) if (row.hidden) expect(text).not.toContain(row.hidden)
    })

    test('covers every table that names an account, and every column of the account itself', async () => {
      const tables = await bench().store.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
         WHERE relnamespace = '${bench().store.schema}'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
           AND attname = 'account' ORDER BY 1`,
      )
      expect(tables.map(({ name }) => name)).toEqual([
        ...['account', 'account_key', 'app_secret', 'approval_request', 'backup_code', 'backup_set'],
        ...['challenge', 'event_delivery', 'factor', 'key_challenge', 'key_user', 'outbox'],
      ])
      const columns = await bench().store.query<{ name: string }>(
        `SELECT column_name AS name FROM information_schema.columns
         WHERE table_schema = '${bench().store.schema}' AND table_name = 'account' ORDER BY 1`,
      )
      expect(columns.map(({ name }) => name)).toEqual([
        ...['account', 'application', 'email_hash', 'failures', 'locale', 'lock_level', 'locked_at'],
        ...['locked_until', 'phone_hash', 'proven_email', 'proven_phone', 'reference', 'used'],
      ])
    })
  })

  describe('listing accounts', () => {
    test('returns pages in a stable order, with masked contacts and a next page that names nobody (R104)', async () => {
      const tenant = await withOperator()
      const { application, ann, mfa } = tenant
      const contacts = Array.from({ length: 7 }, freshEmail)
      for (const contact of contacts) await mfa.enrollApp({ contact })
      await mfa.enrollApp({ contact: freshEmail(), account: 'user 8' })
      const filter = { application, mode: 'live', limit: 3 } as const
      const first = await ann.listUsers(filter)
      const second = await ann.listUsers({ ...filter, after: first.next })
      const third = await ann.listUsers({ ...filter, after: second.next })
      const pages = [first, second, third]
      expect(pages.map(({ users }) => users.length)).toEqual([3, 3, 2])
      expect(pages.map(({ next }) => next === undefined)).toEqual([false, false, true])
      const users = pages.flatMap((page) => page.users)
      expect(new Set(users.map((user) => user.reference)).size).toBe(8)
      expect(users[0]).toEqual({
        ...{ account: 'user 8', user: null, reference: expect.any(String), email: null, phone: null },
        ...{ lockedUntil: null, authenticatorApp: false, backupCodesLeft: 0, keys: 0 },
      })
      const text = JSON.stringify(pages)
      for (const { email } of contacts) {
        expect(text).not.toContain(email)
        expect(Buffer.from(first.next ?? '', 'base64url').toString('latin1')).not.toContain(email)
      }
      const other = await withOperator()
      for (const after of ['', 'x', first.next?.slice(0, -1), 'account:a']) {
        expect((await rejection(ann.listUsers({ ...filter, after: after ?? '' }))).message).toContain('page')
      }
      const foreign = { ...filter, application: other.application, after: first.next }
      expect((await rejection(other.ann.listUsers(foreign))).message).toContain('page')
      expect((await ann.listUsers({ ...filter, mode: 'test' })).users).toEqual([])
    })
  })
}
