import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Cookie } from 'express-session'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { consumeKeyChallenge, createKeyChallenge } from '../src/accounts/challenge.js'
import { run as command } from '../src/cli/program.js'
import { StoredSessions } from '../src/console/session-store.js'
import { idempotentRequests } from '../src/flows/idempotency/idempotent-requests.js'
import { checkSignIn } from '../src/operator/sign-ins.js'
import { createService } from '../src/run/create-service.js'
import { postgresStore } from '../src/store/postgres-store.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import type { Store } from '../src/store/store.js'
import { issueTicket, redeemTicket } from '../src/transcription/tickets.js'
import { appCode, eventually, freshEmail, SECRET } from './kit.js'
import { postgresMissing } from './postgres.js'
import { newFolder, type OwnPostgres, ownPostgres, run, servePostgres } from './postgres-cluster.js'

const script = (name: string) => fileURLToPath(new URL(`../deploy/${name}`, import.meta.url))

describe('backups', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  let folder: string
  let server: OwnPostgres
  const servers: OwnPostgres[] = []
  beforeAll(async () => {
    folder = newFolder()
    run('/bin/mkdir', [join(folder, 'archive')])
    server = await ownPostgres({
      archive_mode: 'on',
      archive_command: `test ! -f ${folder}/archive/%f && cp %p ${folder}/archive/%f`,
      full_page_writes: 'on',
    })
    servers.push(server)
  })
  afterAll(async () => {
    for (const one of servers) await one.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const serviceOn = (options: { readonly databaseUrl?: string; readonly dataDir?: string }) =>
    createService({ ...options, secret: SECRET, delivery: 'inbox', logger: () => {} })
  type Service = Awaited<ReturnType<typeof serviceOn>>

  /** A user with an authenticator app whose first code was used. */
  async function enrolled(service: Service) {
    const contact = freshEmail()
    const app = await service.mfa.enrollApp({ contact })
    const secret = app.outcome === 'prepared' ? (app.secret ?? '') : ''
    const code = appCode(secret, Date.now() - 30_000)
    expect(await service.mfa.verify({ method: 'app', contact, kind: 'confirm', code })).toEqual({
      outcome: 'valid',
    })
    return { contact, secret }
  }
  type Enrolled = Awaited<ReturnType<typeof enrolled>>

  const verify = async (service: Service, { contact, secret }: Enrolled) =>
    (await service.mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(secret) })).outcome

  /** A server that was restored to a time from a base backup, once everything up to now is archived. */
  async function restored(base: string, time: string): Promise<OwnPostgres> {
    const store = postgresStore(server.url)
    const [log] = await store.query<{ name: string }>('SELECT pg_walfile_name(pg_switch_wal()) AS name')
    await store.close()
    await eventually(() => expect(existsSync(join(folder, 'archive', log?.name ?? ''))).toBe(true))
    const target = newFolder()
    run(script('restore.sh'), [join(folder, base), join(folder, 'archive'), join(target, 'data'), time])
    const other = await servePostgres(target)
    servers.push(other)
    const recovered = postgresStore(other.url)
    await eventually(async () =>
      expect(await recovered.query('SELECT pg_is_in_recovery() AS is')).toEqual([{ is: false }]),
    )
    await recovered.close()
    return other
  }

  async function now(store: Store): Promise<string> {
    const [row] = await store.query<{ time: string }>('SELECT clock_timestamp()::text AS time')
    return row?.time ?? ''
  }

  async function commandOn(env: Record<string, string>, ...args: string[]) {
    const printed = { out: '', err: '' }
    const exit = await command(args, {
      env,
      out(text) {
        printed.out += text
      },
      err(text) {
        printed.err += text
      },
    })
    return { exit, ...printed }
  }

  test('restores the service to a point in time from a base backup and the archived logs', async () => {
    const service = await serviceOn({ databaseUrl: server.url })
    const before = await enrolled(service)
    run(script('base-backup.sh'), [server.url, join(folder, 'base')])
    const after = await enrolled(service)
    const store = postgresStore(server.url)
    const time = await now(store)
    await store.close()
    await service.operator('ann').eraseUser({
      ...{ application: 'default', mode: 'live', isAccount: false },
      user: before.contact.email,
    })
    const later = await enrolled(service)
    await service.close()

    const copy = await restored('base', time)
    const back = await serviceOn({ databaseUrl: copy.url })
    expect(await verify(back, before)).toBe('valid')
    expect(await verify(back, after)).toBe('valid')
    expect(await verify(back, later)).toBe('invalid')
    await back.close()
    expect(() => run(script('restore.sh'), [folder, folder, folder, 'now'])).toThrow('exists already')
  })

  test('accept a second time what was used after the point of a restore, until `restored` voids it and lists what to confirm (R37, R51, R60, R85)', async () => {
    const service = await serviceOn({ databaseUrl: server.url })
    const ann = service.operator('ann')
    const store = postgresStore(server.url)
    run(script('base-backup.sh'), [server.url, join(folder, 'second')])
    const keys = deriveKeys(SECRET)
    const password = 'four words and a wall'
    const { token } = await ann.inviteOperator({ email: 'bob@example.com', role: 'admin' })
    await ann.acceptInvitation(token, password)
    const key = await ann.createKey('default', { mode: 'live', label: 'lost laptop' })
    const sessions = (on: Store) => new StoredSessions(on, 3_600_000)
    await promisify((done: (error?: unknown) => void) =>
      sessions(store).set('session', { cookie: new Cookie() }, done),
    )()

    /** Everything that one user and one operator can use once, not used yet. */
    const unused = async (name: string) => {
      const { contact, secret } = await enrolled(service)
      const latest = async () => (await service.inbox?.messages({ to: contact.email }))?.[0]?.text ?? ''
      await service.mfa.sendBackupCodes({ method: 'email', contact })
      const backup = /[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}/.exec(await latest())?.[0] ?? ''
      await service.mfa.send({ method: 'email', contact })
      const email = /\d{6}/.exec(await latest())?.[0] ?? ''
      const again = await service.mfa.enrollApp({ contact })
      const pending = appCode(again.outcome === 'prepared' ? (again.secret ?? '') : '')
      const invitation = (await ann.inviteOperator({ email: `${name}@example.com` })).token
      const { ticket } = await issueTicket(store, 'default')
      const ceremony = {
        account: name,
        method: 'passkey',
        purpose: 'sign-in',
        transaction: undefined,
      } as const
      const challenge = await createKeyChallenge(store, { id: 'default' }, ceremony, Date.now())
      const request = { application: 'default', key: name, content: [] }
      const first = await idempotentRequests(store, keys, 8_000).acquire(request)
      if (first.outcome === 'first') await first.keep({ outcome: 'valid' })
      return {
        contact,
        secret,
        codes: { email, app: appCode(secret), backup, pending },
        invitation,
        ticket,
        ceremony,
        challenge,
        request,
      }
    }
    type Unused = Awaited<ReturnType<typeof unused>>
    const useCode = async (on: Service, { contact, codes }: Unused, method: keyof Unused['codes']) => {
      const typed = {
        email: { method: 'email', kind: 'code' },
        app: { method: 'app', kind: 'code' },
        backup: { method: 'email', kind: 'backup' },
        pending: { method: 'app', kind: 'confirm' },
      } as const
      return (await on.mfa.verify({ ...typed[method], contact, code: codes[method] })).outcome
    }
    /** The effect of each of these when it is used. */
    const use = async (on: Service, db: Store, one: Unused) => ({
      email: await useCode(on, one, 'email'),
      app: await useCode(on, one, 'app'),
      backup: await useCode(on, one, 'backup'),
      pending: await useCode(on, one, 'pending'),
      invitation: await on
        .operator('guest')
        .acceptInvitation(one.invitation, password)
        .then(
          () => 'valid',
          () => 'invalid',
        ),
      ticket: (await redeemTicket(db, one.ticket)) === undefined ? 'invalid' : 'valid',
      key: (await consumeKeyChallenge(db, { id: 'default' }, one.ceremony, {
        challenge: one.challenge,
        now: Date.now(),
      }))
        ? 'valid'
        : 'invalid',
      answer:
        (await idempotentRequests(db, keys, 8_000).acquire(one.request)).outcome === 'answered'
          ? 'valid'
          : 'invalid',
    })
    const all = (outcome: string) => ({
      ...{
        email: outcome,
        app: outcome,
        backup: outcome,
        pending: outcome,
        invitation: outcome,
        ticket: outcome,
      },
      ...{ key: outcome, answer: outcome },
    })

    const users = { control: await unused('cy'), kept: await unused('kim'), dropped: await unused('dee') }
    const time = await now(store)
    for (const one of Object.values(users)) expect(await use(service, store, one)).toEqual(all('valid'))
    await ann.revokeKey('default', key.id)
    await ann.disableOperator('bob@example.com')
    const usedAt = Date.now()
    await service.close()
    await store.close()

    const copy = await restored('second', time)
    const db = postgresStore(copy.url)
    // As fast as a restore can be.
    vi.useFakeTimers({ toFake: ['Date'], now: usedAt })
    onTestFinished(() => void vi.useRealTimers())
    const back = await serviceOn({ databaseUrl: copy.url })
    const session = promisify((id: string, done: (error: unknown, found?: unknown) => void) =>
      sessions(db).get(id, done),
    )
    expect(await use(back, db, users.control)).toEqual(all('valid'))
    expect(await session('session')).toBeTruthy()
    const bob = { email: 'bob@example.com', password, network: 'n' }
    expect(await checkSignIn(db, bob)).toMatchObject({ outcome: 'accepted' })

    await db.query(
      `INSERT INTO outbox (application, account, id, slot, channel, state, challenge, due_at, expires_at, created_at) VALUES
         ('default', 'a', 'code', 0, 'email', 'queued', 'c', $1, $1, 1), ('default', 'a', 'notice', 0, 'email', 'queued', NULL, $1, $1, 1)`,
      [usedAt + 600_000],
    )
    await db.query(
      `INSERT INTO approval_request VALUES ('default', 'a', 'a', 'erase-user', '', 'bob@example.com', 1, $1)`,
      [usedAt + 600_000],
    )
    const restore = (...more: string[]) =>
      commandOn({ DATABASE_URL: copy.url }, 'restored', '--at', time, '--json', ...more)
    const first = await restore('--backup-codes', 'keep')
    expect([first.exit, first.err]).toEqual([0, ''])
    const { unconfirmed } = JSON.parse(first.out) as { unconfirmed: { name: string }[] }
    expect(unconfirmed).toContainEqual(
      expect.objectContaining({
        kind: 'API key',
        name: key.id,
        detail: expect.stringContaining('lost laptop'),
      }),
    )
    expect(unconfirmed).toContainEqual(
      expect.objectContaining({ kind: 'operator', name: 'bob@example.com', detail: 'admin' }),
    )
    expect(await use(back, db, users.kept)).toEqual({ ...all('invalid'), backup: 'valid' })
    expect(await session('session')).toBeNull()
    expect(await checkSignIn(db, bob)).toEqual({ outcome: 'refused' })
    expect(
      await db.query("SELECT id FROM outbox WHERE state = 'queued' AND expires_at > $1", [usedAt]),
    ).toEqual([{ id: 'notice' }])
    expect(await db.query('SELECT FROM approval_request')).toEqual([])
    expect((await restore('--backup-codes', 'drop')).exit).toBe(0)
    expect(await use(back, db, users.dropped)).toEqual(all('invalid'))
    expect(await db.query('SELECT FROM backup_code')).toEqual([])
    const [entry] = await back.operator('ann').listAudit({ action: 'service.restored', limit: 1 })
    expect(entry?.detail).toContain(`to ${new Date(time).toISOString()}`)

    vi.setSystemTime(usedAt + 90_000)
    expect(await verify(back, users.dropped)).toBe('valid')
    await back.close()
    await db.close()
  })

  test('are followed by `restored` only with a past time, its zone, and a decision about backup codes', () =>
    everyCase(
      [
        [['--at', '2026-01-02 03:04:05+00'], '--backup-codes'],
        [['--backup-codes', 'drop'], '--at'],
        [['--at', '2026-01-02 03:04:05', '--backup-codes', 'drop'], 'with its zone'],
        [['--at', '2026-01-02', '--backup-codes', 'drop'], 'with its zone'],
        [['--at', '2999-01-02 03:04:05+00', '--backup-codes', 'drop'], 'a past time'],
        [['--at', 'yesterday', '--backup-codes', 'drop'], 'a past time'],
        [['--at', '2026-01-02 03:04:05+00', '--backup-codes', 'some'], 'keep, drop'],
      ] as const,
      async ([args, text]) => {
        const { exit, err } = await commandOn({ DATABASE_URL: server.url }, 'restored', ...args)
        expect([exit, err]).toEqual([2, expect.stringContaining(text)])
      },
    ))
})
