import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/program.js'
import { systemUser } from '../src/cli/store-access.js'
import { createService } from '../src/service.js'
import { openStore } from '../src/store/open.js'
import { SECRET } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

// An embedded store takes seconds to start, and many on a machine that others use.
const PATIENCE_MS = 120_000

type Env = Readonly<Record<string, string>>

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

function cli(env: Env, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const { PATH = '' } = process.env
    execFile(process.execPath, [CLI, ...args], { env: { PATH, ...env } }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err })
    })
  })
}

/** The same without a process, for what does not need one. */
async function typed(env: Env, ...args: string[]): Promise<Ended> {
  const said = { out: '', err: '' }
  const code = await run(args, {
    env,
    out(text) {
      said.out += `${text}\n`
    },
    err(text) {
      said.err += `${text}\n`
    },
  })
  return { code, ...said }
}

beforeAll(() => {
  if (!existsSync(CLI)) throw new Error('The service is not built: run npm run build first.')
})

describe('the command line on PostgreSQL', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  let env: Env
  let stop: () => Promise<void>
  const start = () =>
    createService({ databaseUrl: env.DATABASE_URL, secret: SECRET, delivery: 'inbox', logger: () => {} })
  beforeAll(async () => {
    const postgres = await startPostgres()
    env = { DATABASE_URL: postgres.url }
    stop = () => postgres.stop()
    // The store as the service leaves it: somebody has used it, and locked an account.
    const service = await start()
    const contact = { kind: 'email', email: 'ann@example.com' } as const
    await service.mfa.send({ method: 'email', contact })
    await service.mfa.enrollApp({ contact })
    for (let i = 0; i < 10; i++) {
      await service.mfa.verify({ method: 'app', contact, kind: 'confirm', code: '123456' })
    }
    await service.mfa.sendBackupCodes({ method: 'email', contact: { kind: 'email', email: 'b@example.com' } })
    await service.close()
  })
  afterAll(() => stop())

  const did = async (...args: string[]) => {
    const ended = await typed(env, ...args)
    expect([args, ended.code, ended.err && ended.code ? ended.err : '']).toEqual([args, 0, ''])
    return ended
  }
  const json = async (...args: string[]) => JSON.parse((await did(...args, '--json')).out)

  test('works as a process: results to one stream, remarks to the other, and an exit code', async () => {
    await cli(env, 'app', 'create', 'process', '--as', 'ann')
    const made = await cli(env, 'key', 'create', 'process')
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^mfa_live_[0-9A-Za-z]{49}\n$/) })
    expect(made.err).toContain('not shown again')
    const refused = await cli(env, 'key', 'create', 'none')
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^error: /) })
    const listed = await cli(env, 'audit', 'process', '--json')
    expect(JSON.parse(listed.out)).toMatchObject([{ who: systemUser() }, { who: 'ann' }])
  })

  test('makes applications, shows and changes their settings', async () => {
    expect((await did('app', 'create', 'vault', 'tier=enterprise', 'countries=GB,DE')).out).toContain('vault')
    const listed = await json('app', 'list')
    expect(listed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ application: 'default', tier: 'enterprise' }),
        expect.objectContaining({ application: 'vault', tier: 'enterprise', liveKeys: 0 }),
      ]),
    )
    await did('app', 'settings', 'vault', 'maxTries=3', 'name=The Vault', '--unset', 'countries')
    const settings: { name: string; value: string; from: string }[] = await json('app', 'settings', 'vault')
    const of = (name: string) => settings.find((one) => one.name === name)
    expect(of('maxTries')).toEqual({ name: 'maxTries', value: '3', from: 'set' })
    expect(of('name')?.value).toBe('The Vault')
    expect(of('countries')).toEqual({ name: 'countries', value: '', from: 'default' })
    const { out } = await did('app', 'settings', 'vault')
    const columns = out.split('\n').map((line) => line.indexOf('set', 20))
    expect(new Set(columns.filter((column) => column >= 0)).size).toBe(1)
  })

  test('makes, lists and revokes keys; a key is seen once', async () => {
    await did('app', 'create', 'keys')
    const made = await did('key', 'create', 'keys', '--label', 'web servers')
    expect(made.out).toMatch(/^mfa_live_[0-9A-Za-z]{49}\n$/)
    const tests = await json('key', 'create', 'keys', '--test')
    expect(tests).toMatchObject({ mode: 'test', application: 'keys', key: /^mfa_test_/ })
    const list = await did('key', 'list', 'keys')
    expect(list.out).toContain('web servers')
    await did('key', 'revoke', 'keys', tests.id)
    expect(
      (await json('key', 'list', 'keys')).map((one: { revokedAt: number | null }) => !!one.revokedAt),
    ).toEqual(expect.arrayContaining([true, false]))
    const everything = [list, await did('audit'), await did('app', 'list')].map(({ out }) => out).join()
    expect(everything).not.toContain(made.out.slice(9, 50))
    expect(everything).not.toContain(tests.key.slice(9, 50))
  })

  test('shows a person masked, lifts the lock and disables a factor', async () => {
    const shown = await did('user', 'show', 'default', 'ann@example.com')
    expect(shown.out).toContain('a•••@e•••')
    expect(shown.out).toMatch(/locked until +20\d\d-/)
    expect(shown.out).toMatch(/authenticator app +waits for its first code/)
    expect(await json('user', 'show', 'default', 'b@example.com')).toMatchObject({
      lockedUntil: null,
      backupCodesLeft: 10,
    })
    await did('user', 'unlock', 'default', 'ann@example.com')
    expect((await json('user', 'show', 'default', 'ann@example.com')).lockedUntil).toBe(null)
    const again = await typed(env, 'user', 'unlock', 'default', 'ann@example.com')
    expect([again.code, again.err]).toEqual([1, 'error: a•••@e••• is not locked in "default".\n'])

    await did('user', 'disable-factor', 'default', 'ann@example.com', 'app')
    await did('user', 'disable-factor', 'default', 'ann@example.com', 'ann@example.com')
    expect((await json('user', 'show', 'default', 'ann@example.com')).factors).toEqual([
      { factor: 'APP', failures: 10, disabled: 'by an operator' },
      { factor: 'EMAIL a•••@e•••', failures: 0, disabled: 'by an operator' },
    ])
    for (const args of [
      ['show', 'default', 'ann@example.com'],
      ['show', 'default', 'nobody@example.com'],
      ['unlock', 'default', 'ann@example.com'],
    ]) {
      const { out, err } = await typed(env, 'user', ...args)
      expect(out + err).not.toMatch(/(ann|nobody)@/)
    }
    const service = await start()
    const contact = { kind: 'email', email: 'ann@example.com' } as const
    expect(await service.mfa.verify({ method: 'app', contact, kind: 'code', code: '123456' })).toMatchObject({
      refusal: { reason: 'factor_disabled' },
    })
    expect(await service.mfa.send({ method: 'email', contact })).toMatchObject({
      refusal: { reason: 'factor_disabled' },
    })
    await service.close()
  })

  test('disables a factor of which nothing was seen so far, and says so, for it may be misspelled', async () => {
    const service = await start()
    const contact = { kind: 'email', email: 'eve@example.com' } as const
    const phone = { kind: 'phone', phone: '+447700900321' } as const
    await service.mfa.send({ method: 'sms', contact: phone, account: 'eve' })
    await service.mfa.send({ method: 'email', contact, account: 'eve' })
    await service.mfa.enrollApp({ contact, account: 'eve' })
    await service.close()
    const remark = async (factor: string) => {
      const { code, err } = await typed(env, 'user', 'disable-factor', 'default', 'eve', factor, '--account')
      return [code, err]
    }
    for (const known of ['app', contact.email, phone.phone]) expect(await remark(known)).toEqual([0, ''])
    for (const unknown of ['backup', 'eva@example.com', '+447700900322']) {
      expect(await remark(unknown)).toEqual([0, expect.stringContaining('is it spelled as it should be?')])
      // Now it has been seen: it is a factor that an operator disabled.
      expect(await remark(unknown)).toEqual([0, ''])
    }
    expect(await json('user', 'disable-factor', 'default', 'eve', 'app', '--account')).toEqual({
      disabled: 'APP',
      wasKnown: true,
    })
  })

  test('lists deliveries without saying whose they are', async () => {
    const found = await json('deliveries', 'default')
    expect(found.length).toBeGreaterThanOrEqual(2)
    expect(found[0]).toMatchObject({ channel: 'email', state: 'sent', settledAt: expect.any(Number) })
    expect(await json('deliveries', 'default', '--state', 'queued')).toEqual([])
    expect(await json('deliveries', 'default', '--test')).toEqual([])
    expect(await json('deliveries', 'default', '--limit', '1')).toHaveLength(1)
    const { out } = await did('deliveries', 'default')
    expect(out).toContain('a•••@e•••')
    expect(out).not.toContain('ann@')
  })

  test('writes every change into the audit log, under the name of who made it', async () => {
    await json('app', 'create', 'audited', '--as', 'ann')
    const { id } = await json('key', 'create', 'audited', '--as', 'ben')
    await json('key', 'revoke', 'audited', id, '--as', 'cleo')
    await json('app', 'settings', 'audited', 'maxTries=4', '--unset', 'name', '--as', 'dora')
    await typed(env, 'app', 'settings', 'audited', 'maxTries=44', '--as', 'eve')
    await did('app', 'settings', 'audited')
    const entries: { who: string; action: string; detail: string; at: number }[] = await json(
      'audit',
      'audited',
    )
    expect(entries.map(({ who, action }) => [who, action])).toEqual([
      ['dora', 'application.changed'],
      ['cleo', 'key.revoked'],
      ['ben', 'key.created'],
      ['ann', 'application.created'],
    ])
    expect(entries[0]?.detail).toBe('maxTries=4 name unset')
    expect(entries[1]?.detail).toContain(id)
    expect(Math.abs((entries[0]?.at ?? 0) - Date.now())).toBeLessThan(120_000)
    expect(await json('audit', '--limit', '2')).toHaveLength(2)

    const service = await start()
    const contact = { kind: 'email', email: 'zoe@example.com' } as const
    for (let i = 0; i < 10; i++)
      await service.mfa.verify({ method: 'app', contact, kind: 'code', code: '123456' })
    await service.close()
    await json('user', 'unlock', 'default', 'zoe@example.com', '--as', 'finn')
    await json('user', 'disable-factor', 'default', 'zoe@example.com', 'app', '--as', 'gina')
    expect(await json('audit', 'default', '--limit', '2')).toMatchObject([
      { who: 'gina', action: 'factor.disabled', detail: expect.stringContaining('z•••@e•••') },
      { who: 'finn', action: 'user.unlocked', detail: expect.stringContaining('z•••@e•••') },
    ])
  })

  test('repeats what the database says when it refuses, without a stack', async () => {
    const url = new URL(env.DATABASE_URL ?? '')
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    const { code, out, err } = await typed({ DATABASE_URL: url.href }, 'app', 'create', 'read-only')
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^error: The database.*cannot execute .* in a read-only transaction\.\n$/)
  })

  test('brings the database up to date', async () => {
    const migrations: { name: string }[] = await json('migrate')
    expect(migrations.map(({ name }) => name)).toContain('0020-applications.sql')
  })

  test.each([
    [['app', 'create', 'Vault_1'], 'small letters'],
    [['app', 'create', 'default'], 'already'],
    [['app', 'settings', 'none'], 'There is no application "none"'],
    [['app', 'settings', 'default', 'maxTries'], 'name=value'],
    [['app', 'settings', 'default', 'maxTries=1'], 'from 3 to 10'],
    [['key', 'create', 'none'], 'There is no application "none"'],
    [['key', 'revoke', 'default', 'key_0'], 'list its keys'],
    [['user', 'show', 'default', 'ann'], '--account'],
    [['user', 'show', 'default', 'ann', '--account'], 'no account'],
    [['user', 'show', 'default', 'nobody@example.com'], 'For what test keys made, say --test'],
    [['user', 'show', 'default', 'nobody@example.com', '--test'], 'among its test data'],
    [['user', 'disable-factor', 'default', 'ann@example.com', 'all'], 'app, backup'],
    [['deliveries', 'none'], 'There is no application "none"'],
    [['audit', 'none'], 'There is no application "none"'],
  ])('%j is refused with what to do', async (args, remedy) => {
    const { code, out, err } = await typed(env, ...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^error: /)
    expect(err).toContain(remedy)
    expect(err).not.toContain('    at ')
  })
})

describe('the command line', () => {
  const empty = mkdtempSync(join(tmpdir(), 'countersign-cli-empty-'))
  afterAll(() => rmSync(empty, { recursive: true, force: true }))

  test.each([
    [['--help'], 'Exit codes'],
    [['app', '--help'], 'settings'],
    [['app', 'create', '--help'], 'countries=GB,DE'],
    [['key', 'create', '--help'], '--test'],
    [['user', 'disable-factor', '--help'], 'app, backup'],
    [['deliveries', '--help'], 'queued'],
    [['audit', '--help'], '--limit'],
    [['migrate', '--help'], 'database'],
    [['serve', '--help'], 'SERVICE_'],
  ])('explains itself: %j', async (args, word) => {
    const { code, out, err } = await typed({}, ...args)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(word)
  })

  test.each([
    [['nonsense']],
    [['app']],
    [['app', 'create']],
    [['key', 'list', 'a', 'b']],
    [['audit', '--limit', '0']],
  ])('answers %j with exit code 2', async (args) => {
    const { code, out, err } = await typed({}, ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).not.toBe('')
  })

  test('tells its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    expect(await typed({}, '--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
  })

  test('says what DATABASE_URL must be when it is something else', async () => {
    const { code, err } = await typed({ DATABASE_URL: 'mfa' }, 'app', 'list')
    expect([code, err]).toEqual([
      1,
      'error: DATABASE_URL must begin with postgresql://, as the service has it.\n',
    ])
  })

  test('makes no database where there is none', async () => {
    const missing = join(empty, 'nowhere')
    const { code, err } = await typed({ DATA_DIR: missing }, 'app', 'list')
    expect([code, existsSync(missing)]).toEqual([1, false])
    expect(err).toContain('DATABASE_URL or DATA_DIR')
  })

  test('works on an embedded store that nobody uses', { timeout: PATIENCE_MS }, async () => {
    const env = { DATA_DIR: join(empty, 'embedded') }
    expect((await typed(env, 'migrate')).out).toContain('0020-applications.sql')
    expect(await typed(env, 'app', 'create', 'vault', 'maxTries=3')).toMatchObject({ code: 0, err: '' })
    expect((await cli(env, 'key', 'create', 'vault')).out).toMatch(/^mfa_live_/)
    const audit = (await typed(env, 'audit')).out
    expect(audit).toMatch(
      /key\.created[\s\S]*application\.created +maxTries=3[\s\S]*store\.migrated +0001-first-tables/,
    )
    expect((await typed(env, 'migrate')).code).toBe(0)
    expect((await typed(env, 'audit')).out).toBe(audit)
  })

  test('cannot work beside a service on one embedded store, and says what to do', {
    timeout: PATIENCE_MS,
  }, async () => {
    const dataDir = join(empty, 'in-use')
    mkdirSync(dataDir)
    const store = await openStore({ dataDir })
    const { code, err } = await cli({ DATA_DIR: dataDir }, 'app', 'list')
    await store.close()
    expect(code).toBe(1)
    expect(err).toContain(`is in use by process ${process.pid}`)
    expect(err).toContain('DATABASE_URL')
  })

  test('starts the service', { timeout: PATIENCE_MS }, async () => {
    const { PATH = '' } = process.env
    const env = { PATH, DATA_DIR: join(empty, 'served'), SERVICE_PORT: '0' }
    const child = spawn(process.execPath, [CLI, 'serve'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = new Promise((resolve) => child.once('close', resolve))
    const url = await new Promise<string>((resolve) => {
      let text = ''
      child.stderr.on('data', (chunk) => {
        text += chunk
        const found = /listens on (http:\S+)/.exec(text)?.[1]
        if (found) resolve(found)
      })
      void ended.then(() => resolve('it ended'))
    })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})
