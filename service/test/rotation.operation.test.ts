import { type CountersignService, createService, OperatorError } from '@countersign/service'
import { type Contact, SCOPES } from 'countersign/protocol'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { run } from '../src/cli/program.js'
import { diagnoseStore } from '../src/operator/diagnose-store.js'
import { describeKeyUse, rotateSecrets } from '../src/operator/rotate-secrets.js'
import { openStore } from '../src/store/open.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import { appSecretIdentity, outboxIdentity, reseal, seal } from '../src/store/secrets/seal.js'
import type { Store } from '../src/store/store.js'
import { webhookReceiver } from './delivery/webhook-receiver.js'
import { advance, appCode, freshEmail, freshPhone, rejection, SECRET, stopClock } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

const OLD = SECRET
const NEW = 'the secret that follows it, which is long enough as well'
const oldKeys = deriveKeys(OLD, [NEW])
const newKeys = deriveKeys(NEW, [OLD])

test('resealed text is identified by SQL as the same text, and opens with the new key only', () => {
  const sealed = seal(oldKeys, ['a', 'b'], 'text')
  const again = reseal(newKeys, ['a', 'b'], sealed)
  expect(again.split('.')[1]).toBe(newKeys.id)
  expect(again.split('.')[2]?.slice(0, 16)).toBe(sealed.split('.')[2]?.slice(0, 16))
  expect(again.split('.')[2]?.slice(16)).not.toBe(sealed.split('.')[2]?.slice(16))
  expect(() => reseal(deriveKeys(NEW), ['a', 'b'], sealed)).toThrow('another key')
})

describe('a rotation of secrets', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  let url: string
  let store: Store
  let stop: () => Promise<void>
  const running: CountersignService[] = []
  beforeAll(async () => {
    const postgres = await startPostgres()
    url = postgres.url
    store = await openStore({ databaseUrl: url, dataDir: 'unused' })
    stop = async () => {
      await store.close()
      await postgres.stop()
    }
  })
  beforeEach(() => stopClock())
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.close()))
    const tables = await store.query<{ tablename: string }>(
      `SELECT schemaname || '.' || tablename AS tablename FROM pg_tables
       WHERE schemaname = '${store.schema}' AND tablename <> 'migration'`,
    )
    await store.query(`TRUNCATE ${tables.map(({ tablename }) => tablename).join(', ')} CASCADE`)
    vi.useRealTimers()
  })
  afterAll(() => stop())

  const start = async (secret: string, ...previousSecrets: string[]) => {
    const service = await createService({
      databaseUrl: url,
      secret,
      previousSecrets,
      delivery: 'inbox',
      logger: () => {},
    })
    running.push(service)
    return service
  }
  const rotate = (keys = newKeys, options = {}) =>
    rotateSecrets({ store, name: 'ops', keys: () => keys, onApplicationChanged: () => {} }, keys, options)
  const codeFor = async (service: CountersignService, to: string) => {
    const [message] = (await service.inbox?.messages({ to })) ?? []
    return /\b\d{6}\b/.exec(message?.text ?? '')?.[0] ?? 'no code was sent'
  }
  const backupCodesFor = async (service: CountersignService, to: string) => {
    const [message] = (await service.inbox?.messages({ to })) ?? []
    return (
      message?.text.match(/\b([0-9A-Z]{4}-){3}[0-9A-Z]{4}\b/g)?.map((code) => code.replaceAll('-', '')) ?? []
    )
  }
  /** An account with an authenticator app. */
  const enrolled = async (service: CountersignService) => {
    const contact = freshEmail()
    const prepared = await service.mfa.enrollApp({ contact })
    const secret = prepared.outcome === 'prepared' ? (prepared.secret ?? '') : ''
    const code = appCode(secret)
    expect(await service.mfa.verify({ method: 'app', contact, kind: 'confirm', code })).toEqual({
      outcome: 'valid',
    })
    return { contact, secret }
  }
  const keyIdsInStore = async () => {
    const columns = await store.query<{ table_name: string; column_name: string }>(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = '${store.schema}' AND data_type = 'text'`,
    )
    const found = new Set<string>()
    for (const { table_name, column_name } of columns) {
      const rows = await store.query<{ text: string }>(
        `SELECT ${column_name} AS text FROM ${store.schema}.${table_name} WHERE ${column_name} ~ '^1\\.[0-9a-f]{12}\\.'`,
      )
      for (const { text } of rows) found.add(text.slice(2, 14))
    }
    return [...found]
  }

  test('lets two processes read what the other one wrote, whichever secret it uses', async () => {
    const [a, b] = [await start(OLD, NEW), await start(NEW, OLD)]
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const contact = freshPhone()
      const sent = await one.mfa.send({ method: 'sms', contact })
      const challenge = 'challenge' in sent ? (sent.challenge ?? '') : ''
      const code = await codeFor(one, contact.phone)
      expect(await codeFor(other, contact.phone)).toBe(code)
      advance(30)
      // A resend by the other process repeats the same code (R39).
      expect(await other.mfa.send({ method: 'sms', contact, challenge })).toMatchObject({ outcome: 'sent' })
      expect(await codeFor(one, contact.phone)).toBe(code)
      expect(await other.mfa.verify({ method: 'sms', contact, kind: 'code', code, challenge })).toEqual({
        outcome: 'valid',
      })
      const mailbox = freshEmail()
      await one.mfa.sendBackupCodes({ method: 'email', contact: mailbox })
      const [first = '', second = ''] = await backupCodesFor(one, mailbox.email)
      const backup = (service: CountersignService, code: string) =>
        service.mfa.verify({ method: 'email', contact: mailbox, kind: 'backup', code })
      expect(await backup(other, first)).toMatchObject({ outcome: 'valid' })
      expect(await backup(other, first)).toEqual({ outcome: 'invalid' })
      expect(await backup(one, second)).toMatchObject({ outcome: 'valid' })

      const user = await enrolled(one)
      advance(30)
      const app = { method: 'app', kind: 'code', code: appCode(user.secret) } as const
      expect(await other.mfa.verify({ ...app, contact: user.contact })).toEqual({ outcome: 'valid' })
    }
  })

  test('rejects no correct code under load, in both directions', async () => {
    const services = [await start(OLD, NEW), await start(NEW, OLD)] as const
    const users: { contact: Contact; secret: string }[] = []
    for (let i = 0; i < 40; i++) users.push(await enrolled(services[0]))
    let rotating = true
    let moved = 0
    const rotation = (async () => {
      for (let round = 0; round < 8; round++)
        moved += (await rotate(round % 2 === 0 ? newKeys : oldKeys)).moved
      moved += (await rotate()).moved
      rotating = false
    })()
    let verified = 0
    for (let round = 0; rotating || round < 2; round++) {
      advance(30)
      const answers = await Promise.all(
        users.map(({ contact, secret }, index) =>
          services[(index + round) % 2 === 0 ? 0 : 1].mfa.verify({
            method: 'app',
            contact,
            kind: 'code',
            code: appCode(secret),
          }),
        ),
      )
      expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['valid']))
      verified += answers.length
    }
    await rotation
    expect(moved).toBeGreaterThanOrEqual(9 * users.length)
    expect(verified).toBeGreaterThanOrEqual(2 * users.length)
    // Every step was accepted once, whether its secret was moved or not (R51).
    for (const { contact, secret } of users.slice(0, 5)) {
      const again = { method: 'app', contact, kind: 'code', code: appCode(secret) } as const
      expect(await services[1].mfa.verify(again)).toEqual({ outcome: 'invalid' })
    }
  })

  test('moves all sealed text, and a pending app can still be confirmed', async () => {
    const before = await start(OLD, NEW)
    const contact = freshEmail()
    await enrolled(before)
    const prepared = await before.mfa.enrollApp({ contact })
    const secret = prepared.outcome === 'prepared' ? (prepared.secret ?? '') : ''
    await before.mfa.send({ method: 'email', contact })
    const receiver = await webhookReceiver()
    onTestFinished(receiver.close)
    await before.operator('ops').setWebhook('default', { url: receiver.url, channels: ['call'] })
    receiver.state.secret = (await before.operator('ops').rotateWebhookSecret('default')).secret
    expect(await keyIdsInStore()).toEqual([oldKeys.id])
    const done = await rotate()
    expect(done.moved).toBeGreaterThanOrEqual(3)
    expect(await keyIdsInStore()).toEqual([newKeys.id])
    const after = await start(NEW, OLD)
    const confirming = { method: 'app', contact, kind: 'confirm', code: appCode(secret) } as const
    expect(await after.mfa.verify(confirming)).toEqual({ outcome: 'valid' })
    expect((await after.inbox?.messages())?.length).toBeGreaterThanOrEqual(1)
    const called = await after.mfa.send({ method: 'call', contact: freshPhone() })
    expect([called.outcome, receiver.requests.length]).toEqual(['sent', 1])
    expect(await before.operator('ops').listAudit({ limit: 1 })).toMatchObject([
      { actor: 'ops', application: '', action: 'secrets.rotated' },
    ])
  })

  test('keeps accounts findable by contact before, while and after their hashes are moved', async () => {
    const before = await start(OLD, NEW)
    const contact = freshEmail()
    const account = 'user 7'
    await before.mfa.send({ method: 'email', contact, account })
    const code = await codeFor(before, contact.email)
    await before.mfa.verify({ method: 'email', contact, account, kind: 'code', code })
    await store.query('DELETE FROM outbox')
    const foundBy = async (service: CountersignService, text: string) =>
      (await service.operator('ops').find(text)).users.map(({ user }) => user)
    expect(await foundBy(before, contact.email)).toEqual([account])
    const between = await start(NEW, OLD)
    expect(await foundBy(between, contact.email.toUpperCase())).toEqual([account])
    await rotate()
    const [row] = await store.query<Record<string, string>>('SELECT reference, email_hash FROM account')
    expect(Object.values(row ?? {}).map((hash) => hash.split('.')[0])).toEqual([newKeys.id, newKeys.id])
    expect(await foundBy(between, contact.email)).toEqual([account])
    // Nothing depends on the old secret any more, so a service without it finds the account, also by its reference.
    expect((await rotate()).remaining).toEqual([])
    await Promise.all(running.splice(0).map((service) => service.close()))
    const after = await start(NEW)
    const [found] = (await after.operator('ops').find(contact.email)).users
    expect(await foundBy(after, found?.reference ?? '')).toEqual([account])
  })

  test('requires the former secret until nothing depends on it', async () => {
    const before = await start(OLD)
    const [phone, mailbox] = [freshPhone(), freshEmail()]
    await before.mfa.send({ method: 'sms', contact: phone })
    await before.mfa.sendBackupCodes({ method: 'email', contact: mailbox })
    const [code = ''] = await backupCodesFor(before, mailbox.email)

    const first = await rotate()
    expect(first.retired).toEqual([])
    expect(first.remaining).toEqual([
      { keyId: oldKeys.id, what: 'backup codes', count: 10, movable: false },
      { keyId: oldKeys.id, what: 'delivered codes', count: 1, movable: false },
    ])
    expect((await rejection(start(NEW))).message).toContain('SERVICE_PREVIOUS_SECRETS')
    const between = await start(NEW, OLD)
    const using = { method: 'email', contact: mailbox, kind: 'backup', code } as const
    expect(await between.mfa.verify(using)).toMatchObject({ outcome: 'valid' })

    advance(600)
    expect((await rotate()).remaining).toMatchObject([{ what: 'backup codes', count: 9 }])
    const last = await rotate(newKeys, { dropBackupCodes: true })
    expect([last.retired, last.remaining]).toEqual([[oldKeys.id], []])
    await start(NEW)
    expect((await rejection(start(OLD))).message).toContain(newKeys.id)
  })

  test('moves and drops in batches, however many there are', async () => {
    const [secrets, messages, codes, now] = [1_200, 600, 10_001, Date.now()]
    const names = (count: number) => Array.from({ length: count }, (_, n) => `n${n}`)
    await store.query(
      `INSERT INTO app_secret (application, account, sealed)
       SELECT 'default', account, sealed FROM unnest($1::text[], $2::text[]) AS m (account, sealed)`,
      [names(secrets), names(secrets).map((name) => seal(oldKeys, appSecretIdentity('default', name), 'x'))],
    )
    await store.query(
      `INSERT INTO outbox (application, account, id, slot, channel, state, masked, sealed, due_at, expires_at, created_at, updated_at)
       SELECT 'default', 'a', id, 1, 'email', 'queued', 'x', sealed, $3::bigint, $3, $3, $3
       FROM unnest($1::text[], $2::text[]) AS m (id, sealed)`,
      [names(messages), names(messages).map((id) => seal(oldKeys, outboxIdentity('default', id), '{}')), now],
    )
    await store.query(
      `INSERT INTO backup_code (application, account, salt, mac)
       SELECT 'default', 'a', 's', $1 || '.' || n FROM generate_series(1, $2::integer) AS n`,
      [oldKeys.id, codes],
    )
    const rotated = await rotate()
    expect(rotated.moved).toBe(secrets + messages)
    expect(rotated.remaining.map(describeKeyUse)).toEqual([
      `10000 or more backup codes depend on key ${oldKeys.id}`,
    ])
    const dropped = await rotate(newKeys, { dropBackupCodes: true })
    expect([dropped.moved, dropped.remaining]).toEqual([0, []])
    expect(await keyIdsInStore()).toEqual([newKeys.id])
  })

  test('is refused with a secret that cannot decrypt the existing data', async () => {
    const before = await start(OLD)
    await enrolled(before)
    const error = await rejection(rotate(deriveKeys(NEW)))
    expect(error).toBeInstanceOf(OperatorError)
    expect(error.message).toContain(oldKeys.id)
    expect(await keyIdsInStore()).toEqual([oldKeys.id])
  })

  test('by the command line shows what still depends on the former secret, and so does the doctor', async () => {
    const before = await start(OLD)
    await enrolled(before)
    const typed = async (env: Record<string, string>, ...args: string[]) => {
      const printed = { out: '', err: '' }
      const code = await run(args, {
        env: { DATABASE_URL: url, ...env },
        out(text) {
          printed.out += text
        },
        err(text) {
          printed.err += text
        },
      })
      return { code, ...printed }
    }
    expect(await typed({}, 'rotate-secrets')).toMatchObject({
      code: 1,
      err: expect.stringContaining('SERVICE_SECRET'),
    })
    const unknown = await typed({ SERVICE_SECRET: NEW }, 'doctor')
    expect([unknown.code, unknown.out.includes('which is unknown')]).toEqual([1, true])

    const env = {
      SERVICE_SECRET: NEW,
      SERVICE_PREVIOUS_SECRETS: OLD.replaceAll(',', '%2C'),
      SERVICE_API_KEY: 'x'.repeat(20),
    }
    const depends = await typed(env, 'doctor')
    expect(depends).toMatchObject({ code: 0, err: '', out: expect.stringContaining('run rotate-secrets') })
    await before.mfa.sendBackupCodes({ method: 'email', contact: freshEmail() })
    const rotated = await typed(env, 'rotate-secrets')
    expect(rotated).toMatchObject({ code: 0, err: '' })
    expect(rotated.out).toContain(`10 backup codes depend on key ${oldKeys.id}`)
    expect(rotated.out).toContain('Keep SERVICE_PREVIOUS_SECRETS')
    expect(rotated.out).not.toContain(OLD)
    const dropped = await typed(env, 'rotate-secrets', '--drop-backup-codes', '--as', 'ann')
    expect(dropped.out).toContain(`Nothing depends on key ${oldKeys.id} any more`)
    expect((await typed(env, 'audit', '--limit', '1')).out).toMatch(
      /ann .*backup codes of former keys dropped/,
    )

    const diagnostics = await diagnoseStore(store, deriveKeys(NEW), {
      production: true,
      optionKey: SCOPES,
      applicationName: 'Vault',
    })
    const wrong = diagnostics.filter(({ severity }) => severity === 'warning' || severity === 'error')
    // The clock of this test is set to another year, and its application names no countries.
    expect(wrong.map(({ subject }) => subject)).toEqual(['database', 'countries'])
    expect((await typed({ SERVICE_SECRET: NEW, SERVICE_PORT: 'x' }, 'doctor')).out).toMatch(
      /error +settings +SERVICE_PORT/,
    )
  })
})
