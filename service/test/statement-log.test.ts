import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/program.js'
import { createService } from '../src/run/create-service.js'
import { appCode, eventually, SECRET } from './kit.js'
import { postgresMissing } from './postgres.js'
import { newFolder, type OwnPostgres, ownPostgres } from './postgres-cluster.js'

describe('the log of a PostgreSQL that logs every statement (R89)', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  let folder: string
  let server: OwnPostgres
  let asService: string
  beforeAll(async () => {
    folder = newFolder()
    server = await ownPostgres({
      logging_collector: 'on',
      log_directory: folder,
      log_filename: 'log',
      log_min_duration_statement: '0',
    })
    await server.sql('CREATE ROLE mfa LOGIN')
    const url = new URL(server.url)
    url.username = 'mfa'
    asService = url.href
    expect((await command(server.url, 'migrate', '--grant', 'mfa')).code).toBe(0)
  })
  afterAll(async () => {
    await server.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  async function command(databaseUrl: string, ...args: string[]) {
    let printed = ''
    const print = (text: string) => {
      printed += `${text}\n`
    }
    const env = { DATABASE_URL: databaseUrl, SERVICE_SECRET: SECRET, SERVICE_DELIVERY: 'inbox' }
    return { code: await run(args, { env, out: print, err: print }), printed: () => printed }
  }

  /** The lines of the log while a user and an operator do most of what they can; `name` is in each of their contacts. */
  async function logWhileUsing(name: string): Promise<string> {
    const from = readFileSync(join(folder, 'log'), 'utf8').length
    const service = await createService({
      databaseUrl: asService,
      secret: SECRET,
      delivery: 'inbox',
      logger: () => {},
    })
    const email = { kind: 'email', email: `${name}@example.com` } as const
    const phone = { kind: 'phone', phone: '+447700900123' } as const
    expect(await service.mfa.send({ method: 'email', contact: email })).toMatchObject({ outcome: 'sent' })
    const other = { kind: 'email', email: `${name}.other@example.com` } as const
    await Promise.all(Array.from({ length: 4 }, () => service.mfa.send({ method: 'email', contact: other })))
    await service.mfa.send({ method: 'sms', contact: phone })
    const text = (await service.inbox?.messages({ to: email.email }))?.[0]?.text ?? ''
    const code = /\d{6}/.exec(text)?.[0] ?? ''
    expect(await service.mfa.verify({ method: 'email', contact: email, kind: 'code', code })).toEqual({
      outcome: 'valid',
    })
    const app = await service.mfa.enrollApp({ contact: email })
    const first = appCode(app.outcome === 'prepared' ? (app.secret ?? '') : '')
    const confirmed = await service.mfa.verify({
      method: 'app',
      contact: email,
      kind: 'confirm',
      code: first,
    })
    expect(confirmed).toEqual({ outcome: 'valid' })
    expect(await service.mfa.sendBackupCodes({ method: 'email', contact: email })).toMatchObject({
      outcome: 'sent',
    })
    const ann = service.operator('ann')
    expect((await ann.find(email.email)).users).toHaveLength(1)
    const user = { application: 'default', mode: 'live', user: email.email, isAccount: false } as const
    await ann.searchMessages({ application: 'default', mode: 'live', contact: email.email, limit: 9 })
    await ann.exportUser(user)
    await ann.disableFactor(user, email.email)
    await ann.eraseUser(user)
    await ann.inviteOperator({ email: `${name}.operator@example.com` })
    await service.close()
    await server.sql(`SELECT 'end of ${from}'`)
    const rest = () => readFileSync(join(folder, 'log'), 'utf8').slice(from)
    await eventually(() => expect(rest()).toContain(`end of ${from}`))
    expect(rest()).toContain('INSERT INTO "mfa".challenge')
    return rest()
  }

  test('shows contacts, which the doctor reports, until the role of the service logs no parameters', async () => {
    const shown = await logWhileUsing('visible')
    expect(shown).toContain('visible@example.com')
    expect(shown).toContain('447700900123')
    expect((await command(asService, 'doctor')).printed()).toContain(
      'ALTER ROLE mfa SET log_parameter_max_length = 0',
    )

    await server.sql('ALTER ROLE mfa SET log_parameter_max_length = 0')
    const hidden = await logWhileUsing('hidden')
    expect(hidden).not.toContain('hidden')
    expect(hidden).not.toContain('447700900123')
    expect((await command(asService, 'doctor')).printed()).not.toContain('log_parameter_max_length')
  })
})
