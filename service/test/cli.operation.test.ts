import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { SHORT_LIVED } from '../../test/kit/process.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import type { Io } from '../src/cli/output.js'
import { run } from '../src/cli/program.js'
import { systemUser } from '../src/cli/store-access.js'
import { createService } from '../src/run/create-service.js'
import { openStore } from '../src/store/open.js'
import { eventReceiver } from './events/event-receiver.js'
import { SECRET } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

// An embedded store takes seconds to start, and much longer on a busy machine.
const TIMEOUT_MS = 120_000

type Env = Readonly<Record<string, string>>

interface Result {
  readonly code: number
  readonly out: string
  readonly err: string
}

function cli(env: Env, ...args: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const { PATH = '' } = process.env
    execFile(
      process.execPath,
      [...SHORT_LIVED, CLI, ...args],
      { env: { PATH, ...env } },
      (error, out, err) => {
        resolve({ code: error ? Number(error.code) : 0, out, err })
      },
    )
  })
}

/** Runs a command in this process. */
function inProcess(env: Env, ...args: string[]): Promise<Result> {
  return atTerminal(env, undefined, ...args)
}

/** The same, for a terminal where `ask` answers questions. */
async function atTerminal(env: Env, ask: Io['ask'], ...args: string[]): Promise<Result> {
  const printed = { out: '', err: '' }
  const code = await run(args, {
    env,
    ask,
    out(text) {
      printed.out += `${text}\n`
    },
    err(text) {
      printed.err += `${text}\n`
    },
  })
  return { code, ...printed }
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
    // A folder without a secret, whatever another test has left in that of the checkout.
    const { path: dataDir } = temporaryFolder()
    env = { DATABASE_URL: postgres.url, SERVICE_HOME_COUNTRY: 'GB', DATA_DIR: dataDir }
    stop = () => postgres.stop()
    // A store with some use, and a locked account.
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

  const succeed = async (...args: string[]) => {
    const ended = await inProcess(env, ...args)
    expect([args, ended.code, ended.err && ended.code ? ended.err : '']).toEqual([args, 0, ''])
    return ended
  }
  const json = async (...args: string[]) => JSON.parse((await succeed(...args, '--json')).out)

  test('runs as a process, with results on stdout, remarks on stderr and an exit code', async () => {
    await cli(env, 'app', 'create', 'process', '--as', 'ann')
    const created = await cli(env, 'key', 'create', 'process')
    expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^mfa_live_[0-9A-Za-z]{49}\n$/) })
    expect(created.err).toContain('not shown again')
    const refused = await cli(env, 'key', 'create', 'none')
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^error: /) })
    const listed = await cli(env, 'audit', 'process', '--json')
    expect(JSON.parse(listed.out)).toMatchObject([{ actor: systemUser() }, { actor: 'ann' }])
  })

  test('creates applications, shows and changes their settings', async () => {
    expect((await succeed('app', 'create', 'vault', 'tier=enterprise', 'countries=GB,DE')).out).toContain(
      'vault',
    )
    const listed = await json('app', 'list')
    expect(listed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ application: 'default', tier: 'enterprise' }),
        expect.objectContaining({ application: 'vault', tier: 'enterprise', liveKeys: 0 }),
      ]),
    )
    await succeed(
      'app',
      'settings',
      'vault',
      'attemptsPerChallenge=3',
      'lockDuration=1h',
      'name=The Vault',
      'emailFrom=Vault, Inc <codes@vault.example>',
      'whatsappTemplate=*:HX1,de:HX2',
      '--unset',
      'countries',
    )
    const settings: { name: string; value: string; from: string }[] = await json('app', 'settings', 'vault')
    const of = (name: string) => settings.find((one) => one.name === name)
    expect(of('attemptsPerChallenge')).toMatchObject({
      name: 'attemptsPerChallenge',
      value: '3',
      from: 'set',
    })
    expect(of('lockDuration')).toMatchObject({ name: 'lockDuration', value: '1h', from: 'set' })
    expect(of('codeLifetime')).toMatchObject({ name: 'codeLifetime', value: '5m', from: 'default' })
    expect(of('name')?.value).toBe('The Vault')
    expect(of('emailFrom')?.value).toBe('Vault, Inc <codes@vault.example>')
    expect(of('whatsappTemplate')?.value).toBe('*:HX1,de:HX2')
    expect(of('smsFrom')).toMatchObject({ name: 'smsFrom', value: '', from: 'default' })
    expect(of('countries')).toMatchObject({ name: 'countries', value: 'all', from: 'default' })
    const { out } = await succeed('app', 'settings', 'vault')
    const columns = out.split('\n').map((line) => line.indexOf('set', 20))
    expect(new Set(columns.filter((column) => column >= 0)).size).toBe(1)
  })

  test('sets the own webhook of an application, prints its secret once, and rotates and removes it', async () => {
    await succeed('app', 'create', 'hooked', 'countries=GB')
    const address = ['--url', 'https://hooked.example/messages', '--channels', 'sms, call']
    const keyless = await inProcess(env, 'app', 'webhook', 'hooked', ...address)
    expect(keyless).toMatchObject({ code: 1, err: expect.stringContaining('SERVICE_SECRET is missing') })
    const webhook = (...args: string[]) =>
      inProcess({ ...env, SERVICE_SECRET: SECRET }, 'app', 'webhook', 'hooked', ...args)
    const created = await webhook(...address)
    expect(created.out).toMatch(/^mfa_webhook_[\w-]{43}\n$/)
    expect(await json('app', 'webhook', 'hooked')).toEqual({
      url: 'https://hooked.example/messages',
      channels: ['sms', 'call'],
      formerSecretUntil: null,
    })
    expect((await webhook()).out).toMatch(/https:\S+ +sms,call/)
    const rotated = JSON.parse((await webhook('--rotate-secret', '--json')).out)
    expect(rotated).toMatchObject({
      secret: expect.stringMatching(/^mfa_webhook_/),
      formerSecretUntil: expect.any(Number),
    })
    expect(rotated.secret).not.toBe(created.out.trim())
    const both = await webhook('--rotate-secret', '--remove')
    expect(both).toMatchObject({ code: 1, err: expect.stringContaining('one at a time') })
    expect((await webhook('--remove')).out).toContain('has no webhook')
  })

  test('reads texts of an application from a file', async () => {
    const { path, remove } = temporaryFolder()
    const file = join(path, 'texts.json')
    const texts = { en: { backup: { subject: 'Codes for {app}' } } }
    writeFileSync(file, JSON.stringify(texts))
    await succeed('app', 'create', 'texts', 'countries=GB', `texts=@${file}`)
    const settings: { name: string; value: string }[] = await json('app', 'settings', 'texts')
    expect(JSON.parse(settings.find(({ name }) => name === 'texts')?.value ?? '')).toEqual(texts)
    writeFileSync(file, '{ "en": ')
    const noJson = await inProcess(env, 'app', 'settings', 'texts', `texts=@${file}`)
    expect(noJson).toMatchObject({ code: 1, err: expect.stringContaining('texts must be an object like') })
    remove()
    const missing = await inProcess(env, 'app', 'settings', 'texts', `texts=@${file}`)
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('cannot be read') })
  })

  test('asks for the countries of a new application, and proposes the home country (R103)', async () => {
    const questions: string[] = []
    const answering = (answer: string) => async (question: string) => {
      questions.push(question)
      return answer
    }
    const created = async (name: string, answer: string, more: Env = {}) => {
      const all = { DATABASE_URL: env.DATABASE_URL ?? '', ...more }
      const { code, err } = await atTerminal(all, answering(answer), 'app', 'create', name)
      if (code !== 0) return err
      const settings: { name: string; value: string }[] = await json('app', 'settings', name)
      return settings.find((one) => one.name === 'countries')?.value
    }
    expect(await created('asked-1', 'GB,FR')).toBe('FR,GB')
    expect(await created('asked-2', 'all')).toBe('all')
    expect(await created('asked-3', '', { LANG: 'de_AT.UTF-8' })).toBe('AT')
    expect(await created('asked-4', ' ', { SERVICE_HOME_COUNTRY: 'GB', LANG: 'de_AT.UTF-8' })).toBe('GB')
    expect(questions.map((question) => question.slice(-10))).toEqual([
      ...[', or all: ', ', or all: ', 'all [AT]: ', 'all [GB]: '],
    ])
    expect(await created('asked-5', '', { LANG: 'C' })).toContain('answer GB,DE or all')
    expect(await created('asked-6', 'Germany')).toContain('two capital letters')
    const unattended = await inProcess({ DATABASE_URL: env.DATABASE_URL ?? '' }, 'app', 'create', 'asked-7')
    expect(unattended).toMatchObject({ code: 1, err: expect.stringContaining('add countries=GB,DE') })
    expect(await inProcess(env, 'app', 'create', 'asked-8')).toMatchObject({ code: 0 })
  })

  test('creates, lists and revokes keys, and shows each key only once', async () => {
    await succeed('app', 'create', 'keys')
    const made = await succeed('key', 'create', 'keys', '--label', 'web servers')
    expect(made.out).toMatch(/^mfa_live_[0-9A-Za-z]{49}\n$/)
    const tests = await json('key', 'create', 'keys', '--test')
    expect(tests).toMatchObject({ mode: 'test', application: 'keys', key: /^mfa_test_/ })
    const list = await succeed('key', 'list', 'keys')
    expect(list.out).toContain('web servers')
    await succeed('key', 'revoke', 'keys', tests.id)
    expect(
      (await json('key', 'list', 'keys')).map((one: { revokedAt: number | null }) => !!one.revokedAt),
    ).toEqual(expect.arrayContaining([true, false]))
    const everything = [list, await succeed('audit'), await succeed('app', 'list')]
      .map(({ out }) => out)
      .join()
    expect(everything).not.toContain(made.out.slice(9, 50))
    expect(everything).not.toContain(tests.key.slice(9, 50))
  })

  test('invites operators of the console, and lists, promotes and disables them (R106)', async () => {
    const link = (env: Env, ...more: string[]) =>
      inProcess(env, 'operator', 'invite', 'Ann@Example.com', ...more)
    const invited = await link({ ...env, SERVICE_CONSOLE_URL: 'https://mfa.example/' }, '--role', 'support')
    expect(invited.out).toMatch(/^https:\/\/mfa\.example\/console\/invitation\/[\w-]{43}\n$/)
    expect(invited.err).toContain('Send this link to Ann@Example.com only')
    expect((await link(env)).out).toMatch(/^\/console\/invitation\//)
    expect((await inProcess(env, 'operator', 'list')).out).toMatch(/ann@example\.com +support +invited/)
    expect((await inProcess(env, 'operator', 'role', 'ann@example.com', 'owner')).err).toContain(
      '"owner" is not a role: use viewer, support, admin.',
    )
    await inProcess(env, 'operator', 'role', 'ann@example.com', 'admin')
    await inProcess(env, 'operator', 'disable', 'ann@example.com')
    expect((await inProcess(env, 'operator', 'list')).out).toMatch(/ann@example\.com +admin +disabled/)
    const again = await inProcess(env, 'operator', 'disable', 'ann@example.com')
    expect([again.code, again.err]).toEqual([
      1,
      expect.stringContaining('There is no operator ann@example.com'),
    ])
    expect((await inProcess(env, 'operator', 'invite', 'ann')).err).toContain('is not an email address')
    const reset = await inProcess(env, 'operator', 'reset', 'ann@example.com')
    expect(reset.err).toContain('or the account is disabled')
    await link(env)
    await inProcess(env, 'operator', 'end-sessions', 'ann@example.com')
    expect((await inProcess(env, 'operator', 'reset', 'ann@example.com')).out).toContain(
      '/console/invitation/',
    )
    await inProcess(env, 'operator', 'revoke', 'ann@example.com')
    expect((await inProcess(env, 'operator', 'revoke', 'ann@example.com')).err).toContain(
      'There is no open invitation of ann@example.com.',
    )
    expect((await inProcess(env, 'operator', 'list')).out).not.toContain('ann@example.com')
  })

  test('shows which operators are one person, and makes one of them a person of their own (R137)', async () => {
    const ann = 'ann@team.example'
    const bob = 'bob@team.example'
    await inProcess(env, 'operator', 'invite', ann, '--role', 'admin')
    await inProcess(env, '--as', ann, 'operator', 'invite', bob)
    expect((await inProcess(env, 'operator', 'list')).out).toMatch(/ann@team\.example .* bob@team\.example/)
    const reset = await inProcess(env, 'operator', 'reset', bob, '--independent')
    expect(reset.out).toContain('/console/invitation/')
    expect((await inProcess(env, 'operator', 'list')).out).not.toMatch(
      /ann@team\.example .* bob@team\.example/,
    )
    const said = await inProcess(env, '--json', 'operator', 'two-persons', ann, bob)
    expect(JSON.parse(said.out)).toEqual({ one: ann, other: bob, persons: 'two' })
    expect((await inProcess(env, 'operator', 'one-person', ann, bob)).out).toBe(
      `${ann} and ${bob} are one person now.\n`,
    )
    expect((await inProcess(env, 'operator', 'list')).out).toMatch(/ann@team\.example .* bob@team\.example/)
    const refused = await inProcess(env, 'operator', 'two-persons', ann, bob)
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('an administrator said so')])
  })

  test('shows an account with masked contacts, unlocks it and disables its factors', async () => {
    const shown = await succeed('user', 'show', 'default', 'ann@example.com')
    expect(shown.out).toContain('a•••@e•••')
    expect(shown.out).toMatch(/locked until +20\d\d-/)
    expect(shown.out).toMatch(/authenticator app +waits for its first code/)
    expect(await json('user', 'show', 'default', 'b@example.com')).toMatchObject({
      lockedUntil: null,
      backupCodesLeft: 10,
    })
    await succeed('user', 'unlock', 'default', 'ann@example.com')
    expect((await json('user', 'show', 'default', 'ann@example.com')).lockedUntil).toBe(null)
    const again = await inProcess(env, 'user', 'unlock', 'default', 'ann@example.com')
    expect([again.code, again.err]).toEqual([1, 'error: a•••@e••• is not locked in "default".\n'])

    await succeed('user', 'disable-factor', 'default', 'ann@example.com', 'app')
    await succeed('user', 'disable-factor', 'default', 'ann@example.com', 'ann@example.com')
    expect((await json('user', 'show', 'default', 'ann@example.com')).factors).toEqual([
      { factor: 'APP', failures: 10, disabled: 'by an operator' },
      { factor: 'EMAIL a•••@e•••', failures: 0, disabled: 'by an operator' },
    ])
    for (const args of [
      ['show', 'default', 'ann@example.com'],
      ['show', 'default', 'nobody@example.com'],
      ['unlock', 'default', 'ann@example.com'],
    ]) {
      const { out, err } = await inProcess(env, 'user', ...args)
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

  test('disables a factor that the account never used, and points out that it may be misspelled', async () => {
    const service = await start()
    const contact = { kind: 'email', email: 'eve@example.com' } as const
    const phone = { kind: 'phone', phone: '+447700900321' } as const
    await service.mfa.send({ method: 'sms', contact: phone, account: 'eve' })
    await service.mfa.send({ method: 'email', contact, account: 'eve' })
    await service.mfa.enrollApp({ contact, account: 'eve' })
    await service.close()
    const remark = async (factor: string) => {
      const { code, err } = await inProcess(
        env,
        'user',
        'disable-factor',
        'default',
        'eve',
        factor,
        '--account',
      )
      return [code, err]
    }
    for (const known of ['app', contact.email, phone.phone]) expect(await remark(known)).toEqual([0, ''])
    for (const unknown of ['backup', 'eva@example.com', '+447700900322']) {
      expect(await remark(unknown)).toEqual([0, expect.stringContaining('check the spelling')])
      // The second time it is a known factor, which an operator disabled.
      expect(await remark(unknown)).toEqual([0, ''])
    }
    expect(await json('user', 'disable-factor', 'default', 'eve', 'app', '--account')).toEqual({
      disabled: 'APP',
      wasKnown: true,
    })
  })

  test('lists, exports and erases accounts, with the secret of the service (R104)', async () => {
    const service = await start()
    const contact = { kind: 'email', email: 'hal@example.com' } as const
    for (const account of ['hal 1', 'hal 2', undefined]) {
      await service.mfa.send({ method: 'email', contact, ...(account && { account }) })
    }
    await service.close()
    const secret = { ...env, SERVICE_SECRET: SECRET }
    const user = (...args: string[]) => inProcess(secret, 'user', ...args)
    const first = await user('list', 'default', '--limit', '2')
    expect(first.out).toMatch(/USER +REFERENCE.*\neve .*\nhal 1 /)
    const [, next = ''] = /--after (\S+)/.exec(first.err) ?? []
    const second = JSON.parse((await user('list', 'default', '--after', next, '--json')).out)
    expect(second.users[0]).toMatchObject({ account: 'hal 2', email: null })
    expect(JSON.stringify(second) + first.out).not.toContain('@example.com')

    const exported = JSON.parse((await user('export', 'default', 'hal@example.com')).out)
    expect(exported).toMatchObject({ user: 'hal@example.com', challenges: [{ contact: 'hal@example.com' }] })
    const erased = await user('erase', 'default', 'hal@example.com')
    expect(erased).toEqual({ code: 0, out: `Erased account ${exported.reference}.\n`, err: '' })
    const again = await user('erase', 'default', 'hal@example.com')
    expect([again.code, again.out, again.err]).toEqual([
      0,
      `Nothing is stored about account ${exported.reference}.\n`,
      expect.stringContaining('check the spelling'),
    ])
    expect(await user('export', 'default', 'hal@example.com')).toMatchObject({ code: 1, out: '' })
    expect(await inProcess(env, 'user', 'erase', 'default', 'hal 1', '--account')).toMatchObject({
      code: 1,
      err: expect.stringContaining('SERVICE_SECRET is missing'),
    })
    expect(JSON.parse((await user('export', 'default', 'hal 1', '--account')).out).account).toBe('hal 1')
    expect((await user('list', 'default', '--limit', '1001')).code).toBe(2)
    expect((await user('list', 'default', '--after', 'x')).err).toContain('This page does not exist')
  })

  test('manages endpoints for events, and posts to them', async () => {
    const receiver = await eventReceiver()
    const withSecret = { ...env, SERVICE_SECRET: SECRET }
    const webhook = (...args: string[]) => inProcess(withSecret, 'webhook', ...args)
    const listed = async (...args: string[]) => JSON.parse((await webhook(...args, '--json')).out)
    await succeed('app', 'create', 'evented', 'countries=GB')
    const url = `${receiver.url}/events`
    const { id, secret } = await listed('create', 'evented', '--url', url, '--events', 'all')
    receiver.state.secrets = [secret]
    expect((await webhook('test', 'evented', id)).out).toContain('responded with 204')
    expect(receiver.events).toMatchObject([{ type: 'webhook.test', data: { application: 'evented' } }])
    const rotated = await webhook('rotate-secret', 'evented', id)
    receiver.state.secrets = [rotated.out.trim()]
    const [delivery] = await listed('deliveries', 'evented', id, '--limit', '1')
    expect(delivery).toMatchObject({ type: 'webhook.test', state: 'delivered', status: 204 })
    expect((await webhook('deliveries', 'evented', id)).out).toMatch(/evt_\S+ +webhook.test /)
    expect((await webhook('resend', 'evented', id, delivery.id)).out).toContain('delivered')
    expect(receiver.events.map((event) => event.id)).toEqual([delivery.id, delivery.id])
    await webhook('pause', 'evented', id)
    expect((await webhook('list', 'evented')).out).toMatch(/user\.locked.* paused /)
    await webhook('resume', 'evented', id)
    expect((await webhook('remove', 'evented', id)).out).toBe(`Removed ${id}.\n`)
    expect(await listed('list', 'evented')).toEqual([])
    const refused = await inProcess(
      withSecret,
      'webhook',
      'create',
      'evented',
      '--url',
      'ftp://a',
      '--events',
      'x',
    )
    expect([refused.code, refused.err.split('\n').length]).toEqual([1, 3])
    await receiver.close()
  })

  test('lists deliveries with masked recipients', async () => {
    const found = await json('deliveries', 'default')
    expect(found.length).toBeGreaterThanOrEqual(2)
    expect(found[0]).toMatchObject({ channel: 'email', state: 'sent', settledAt: expect.any(Number) })
    expect(await json('deliveries', 'default', '--state', 'queued')).toEqual([])
    expect(await json('deliveries', 'default', '--test')).toEqual([])
    expect(await json('deliveries', 'default', '--limit', '1')).toHaveLength(1)
    const { out } = await succeed('deliveries', 'default')
    expect(out).toContain('a•••@e•••')
    expect(out).not.toContain('ann@')
  })

  test('records every change in the audit log, under the name of the operator', async () => {
    await json('app', 'create', 'audited', '--as', 'ann')
    const { id } = await json('key', 'create', 'audited', '--as', 'ben')
    await json('key', 'revoke', 'audited', id, '--as', 'cleo')
    await json('app', 'settings', 'audited', 'attemptsPerChallenge=4', '--unset', 'name', '--as', 'dora')
    await inProcess(env, 'app', 'settings', 'audited', 'attemptsPerChallenge=44', '--as', 'eve')
    await succeed('app', 'settings', 'audited')
    const entries: { actor: string; action: string; detail: string; at: number }[] = await json(
      'audit',
      'audited',
    )
    expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
      ['dora', 'application.changed'],
      ['cleo', 'key.revoked'],
      ['ben', 'key.created'],
      ['ann', 'application.created'],
    ])
    expect(entries[0]?.detail).toBe('attemptsPerChallenge=4 name unset')
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
      { actor: 'gina', action: 'factor.disabled', detail: expect.stringContaining('z•••@e•••') },
      { actor: 'finn', action: 'user.unlocked', detail: expect.stringContaining('z•••@e•••') },
    ])
  })

  test('shows, pauses and resumes the codes that are sent to phones (R103)', async () => {
    await succeed('traffic', 'pause', 'default', '+44740012', '--as', 'ann')
    expect(await json('traffic', 'show', 'default')).toMatchObject([
      { destination: '+44740012', sent: 0, typed: 0, pausedAt: expect.any(Number) },
    ])
    expect((await succeed('traffic', 'show', 'default')).out).toMatch(
      /^DESTINATION .*\n\+44740012 +0 +0 +0 +2\d{3}-/,
    )
    expect(await json('traffic', 'resume', 'default', '+44740012')).toEqual({
      ...{ destination: '+44740012', paused: false },
    })
    expect(await inProcess(env, 'traffic', 'resume', 'default', 'GB')).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('are not paused') },
    })
    const prices = await json('app', 'settings', 'default', 'prices=GB:0.04,*:0.2', 'spendPerDay=12.5')
    expect(prices.filter(({ from }: { from: string }) => from === 'set')).toMatchObject([
      { name: 'prices', value: 'GB:0.04,*:0.2' },
      { name: 'spendPerDay', value: '12.5' },
    ])
    await succeed('app', 'settings', 'default', '--unset', 'prices', 'spendPerDay')
  })

  test('shows the message of a database error, without a stack trace', async () => {
    const url = new URL(env.DATABASE_URL ?? '')
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    const { code, out, err } = await inProcess(
      { DATABASE_URL: url.href },
      ...['app', 'create', 'read-only', 'countries=GB'],
    )
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^error: The database.*cannot execute .* in a read-only transaction\.\n$/)
  })

  test('applies migrations to the database', async () => {
    const migrations: { name: string }[] = await json('migrate')
    expect(migrations.map(({ name }) => name)).toEqual(['0001-tables.sql'])
  })

  test.each([
    [['app', 'create', 'Vault_1'], 'lowercase letters'],
    [['app', 'create', 'default'], 'already'],
    [['app', 'settings', 'none'], 'The application "none" does not exist'],
    [['app', 'settings', 'default', 'attemptsPerChallenge'], 'name=value'],
    [['app', 'settings', 'default', 'attemptsPerChallenge=1'], 'from 3 to 10'],
    [['app', 'settings', 'default', 'lockDuration=1s'], 'from 15m to 24h'],
    [['app', 'settings', 'default', 'spendPerDay=5'], 'need prices'],
    [['app', 'settings', 'default', 'prices=GB'], 'such as GB:0.04'],
    [['app', 'settings', 'default', 'emailFrom=Vault', 'callFrom=12'], 'callFrom must be a phone number'],
    [['app', 'settings', 'default', 'prices=Britain:1'], 'ISO codes'],
    [['app', 'settings', 'default', 'spendPerMonth=much'], 'amount of money'],
    [['app', 'webhook', 'default', '--url', 'http://a.example', '--channels', 'sms'], 'public host'],
    [['traffic', 'pause', 'default', 'Britain'], 'neither a country'],
    [['complaint', 'lift', 'default', 'ann@example.com'], 'No complaint of this mailbox'],
    [['key', 'create', 'none'], 'The application "none" does not exist'],
    [['key', 'revoke', 'default', 'key_0'], 'list its keys'],
    [['user', 'show', 'default', 'ann'], '--account'],
    [['user', 'show', 'default', 'ann', '--account'], 'no account'],
    [['user', 'show', 'default', 'nobody@example.com'], 'For data of test keys, add --test'],
    [['user', 'show', 'default', 'nobody@example.com', '--test'], 'in its test data'],
    [['user', 'disable-factor', 'default', 'ann@example.com', 'all'], 'app, backup'],
    [['deliveries', 'none'], 'The application "none" does not exist'],
    [['audit', 'none'], 'The application "none" does not exist'],
  ])('refuses %j and says what to do', async (args, remedy) => {
    const { code, out, err } = await inProcess(env, ...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^error: /)
    expect(err).toContain(remedy)
    expect(err).not.toContain('    at ')
  })
})

describe('the command line', () => {
  const { path: empty, remove } = temporaryFolder()
  afterAll(remove)

  test('explains the command', () =>
    everyCase(
      [
        [['--help'], 'Exit codes'],
        [['app', '--help'], 'settings'],
        [['app', 'create', '--help'], 'countries=GB,DE'],
        [['key', 'create', '--help'], '--test'],
        [['user', 'disable-factor', '--help'], 'app, backup'],
        [['deliveries', '--help'], 'queued'],
        [['audit', '--help'], '--limit'],
        [['migrate', '--help'], 'database'],
        [['serve', '--help'], 'SERVICE_'],
      ],
      async ([args, word]) => {
        const { code, out, err } = await inProcess({}, ...args)
        expect([code, err]).toEqual([0, ''])
        expect(out).toContain(word)
      },
    ))

  test.each([
    [['nonsense']],
    [['app']],
    [['app', 'create']],
    [['key', 'list', 'a', 'b']],
    [['audit', '--limit', '0']],
  ])('exits with code 2 for %j', async (args) => {
    const { code, out, err } = await inProcess({}, ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).not.toBe('')
  })

  test('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    expect(await inProcess({}, '--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
  })

  test('explains an invalid DATABASE_URL', async () => {
    const { code, err } = await inProcess({ DATABASE_URL: 'mfa' }, 'app', 'list')
    expect([code, err]).toEqual([
      1,
      'error: DATABASE_URL must begin with postgresql://, as for the service.\n',
    ])
  })

  test('creates no database in a wrong folder', async () => {
    const missing = join(empty, 'nowhere')
    const { code, err } = await inProcess({ DATA_DIR: missing }, 'app', 'list')
    expect([code, existsSync(missing)]).toEqual([1, false])
    expect(err).toContain('DATABASE_URL or DATA_DIR')
  })

  test('works on an embedded store that no process uses', { timeout: TIMEOUT_MS }, async () => {
    const env = { DATA_DIR: join(empty, 'embedded') }
    expect((await inProcess(env, 'migrate')).out).toContain('0001-tables.sql')
    expect(
      await inProcess(env, 'app', 'create', 'vault', 'attemptsPerChallenge=3', 'countries=all'),
    ).toMatchObject({
      code: 0,
      err: '',
    })
    expect((await cli(env, 'key', 'create', 'vault')).out).toMatch(/^mfa_live_/)
    const audit = (await inProcess(env, 'audit')).out
    expect(audit).toMatch(
      /key\.created[\s\S]*application\.created +countries=all attemptsPerChallenge=3[\s\S]*store\.migrated +0001-tables/,
    )
    expect((await inProcess(env, 'migrate')).code).toBe(0)
    expect((await inProcess(env, 'audit')).out).toBe(audit)
    // Before the first start of the service.
    expect((await inProcess(env, 'app', 'list')).out).toMatch(/^default /m)
    expect((await inProcess(env, 'app', 'settings', 'default', 'codeDigits=8')).code).toBe(0)
    expect((await inProcess({ ...env, SERVICE_SECRET: SECRET }, 'key', 'create', 'default')).code).toBe(0)
  })

  test('refuses an embedded store that a service uses, and says what to do', {
    timeout: TIMEOUT_MS,
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

  test('exits with code 1 when the service cannot start', { timeout: TIMEOUT_MS }, async () => {
    const file = join(empty, 'file')
    writeFileSync(file, '')
    for (const env of [{ SERVICE_LOCALE: 'zz' }, { DATA_DIR: file }, { SERVICE_HOST: '192.0.2.1' }]) {
      const { code, err } = await cli({ DATA_DIR: join(empty, 'never'), SERVICE_PORT: '0', ...env }, 'serve')
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/^(warning: .*\n)?(SERVICE_API_KEY.*\n)?error: /),
      ])
      expect(err).toContain(Object.keys(env)[0])
    }
  })

  test('starts the service', { timeout: TIMEOUT_MS }, async () => {
    const { PATH = '' } = process.env
    const env = { PATH, DATA_DIR: join(empty, 'served'), SERVICE_PORT: '0' }
    const child = spawn(process.execPath, [...SHORT_LIVED, CLI, 'serve'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    const url = await new Promise<string>((resolve) => {
      let text = ''
      child.stderr.on('data', (chunk) => {
        text += chunk
        const found = /listens on (http:\S+)/.exec(text)?.[1]
        if (found) resolve(found)
      })
      void ended.then(() => resolve('the process ended'))
    })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})
