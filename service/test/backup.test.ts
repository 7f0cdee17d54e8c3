import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run as command } from '../src/cli/program.js'
import { createService } from '../src/run/create-service.js'
import { postgresStore } from '../src/store/postgres-store.js'
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

  async function restored(time: string): Promise<OwnPostgres> {
    const target = newFolder()
    run(script('restore.sh'), [join(folder, 'base'), join(folder, 'archive'), join(target, 'data'), time])
    const other = await servePostgres(target)
    servers.push(other)
    return other
  }

  test('restores the service to a point in time from a base backup and the archived logs', async () => {
    const service = await serviceOn({ databaseUrl: server.url })
    const before = await enrolled(service)
    run(script('base-backup.sh'), [server.url, join(folder, 'base')])
    const after = await enrolled(service)
    const store = postgresStore(server.url)
    const [row] = await store.query<{ time: string }>('SELECT clock_timestamp()::text AS time')
    await service.operator('ann').eraseUser({
      ...{ application: 'default', mode: 'live', isAccount: false },
      user: before.contact.email,
    })
    const later = await enrolled(service)
    await service.close()
    const [log] = await store.query<{ name: string }>('SELECT pg_walfile_name(pg_switch_wal()) AS name')
    await eventually(() => expect(existsSync(join(folder, 'archive', log?.name ?? ''))).toBe(true))
    await store.close()

    const copy = await restored(row?.time ?? '')
    const recovered = postgresStore(copy.url)
    const isWritable = async () => {
      const [state] = await recovered.query<{ f: boolean }>('SELECT pg_is_in_recovery() AS f')
      return state?.f === false
    }
    while (!(await isWritable())) await new Promise((resolve) => setImmediate(resolve))
    await recovered.close()
    const back = await serviceOn({ databaseUrl: copy.url })
    expect(await verify(back, before)).toBe('valid')
    expect(await verify(back, after)).toBe('valid')
    expect(await verify(back, later)).toBe('invalid')
    await back.close()
    expect(() => run(script('restore.sh'), [folder, folder, folder, 'now'])).toThrow('exists already')
  })

  test('copies an embedded database to PostgreSQL and back, with everything in it', async () => {
    const embedded = join(folder, 'embedded')
    mkdirSync(embedded)
    const first = await serviceOn({ dataDir: embedded })
    const user = await enrolled(first)
    await first.mfa.sendBackupCodes({ method: 'email', contact: user.contact })
    const code = /[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}/.exec((await first.inbox?.messages())?.[0]?.text ?? '')?.[0]
    await first.operator('ann').createApplication('vault', { countries: ['GB'] })
    await first.operator('ann').createKey('vault', { mode: 'live' })
    await first.close()

    await server.sql('CREATE DATABASE copied')
    const databaseUrl = server.url.replace(/\/[^/]*$/, '/copied')
    const copy = async (env: Record<string, string>, target: string) => {
      const printed = { out: '', err: '' }
      const exit = await command(['copy', target, '--json'], {
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
    const there = await copy({ DATA_DIR: embedded }, databaseUrl)
    expect([there.exit, there.err]).toEqual([0, expect.stringContaining('the same SERVICE_SECRET')])
    const counts: { table: string; rows: number }[] = JSON.parse(there.out)
    expect(counts).toEqual(
      expect.arrayContaining([
        { table: 'account', rows: 1 },
        { table: 'api_key', rows: 1 },
        { table: 'backup_code', rows: 10 },
        { table: 'audit', rows: 2 },
      ]),
    )
    expect(await copy({ DATABASE_URL: databaseUrl }, databaseUrl)).toMatchObject({
      exit: 1,
      err: expect.stringContaining('The target is not empty'),
    })
    const second = await serviceOn({ databaseUrl })
    expect(await verify(second, user)).toBe('valid')
    await second.operator('ann').createKey('vault', { mode: 'test' })
    await second.mfa.send({ method: 'email', contact: freshEmail() })
    expect(await second.operator('ann').listAudit({ limit: 9 })).toHaveLength(3)
    await second.close()

    const returned = join(folder, 'returned')
    expect((await copy({ DATABASE_URL: databaseUrl }, returned)).exit).toBe(0)
    const third = await serviceOn({ dataDir: returned })
    const typed = { method: 'email', contact: user.contact, kind: 'backup', code: code ?? '' } as const
    expect(await third.mfa.verify(typed)).toMatchObject({ outcome: 'valid', backupCodesLeft: 9 })
    expect(await third.operator('ann').listKeys('vault')).toHaveLength(2)
    await third.close()
  })
})
