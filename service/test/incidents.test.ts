import { execFileSync, spawnSync } from 'node:child_process'
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../test/kit/loopback.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { run } from '../src/cli/program.js'
import { createService } from '../src/run/create-service.js'
import type { CountersignService } from '../src/run/service.js'
import { jsonLogger } from '../src/telemetry/log/logger.js'
import { opensslMissing } from './delivery/mail-server.js'
import { eventually, freshEmail, listen } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

/*
 * Follows the page of incidents in operating.md: each command that it names is run as it stands there, in the incident.
 */

const PAGE =
  readFileSync(new URL('../docs/operating.md', import.meta.url), 'utf8').split('\n## Incidents\n')[1] ?? ''

const SECRET = 'a leaked secret for tests that is long enough'

/** The commands below a heading. */
function commandsOf(heading: string): string[] {
  const [, section = ''] = PAGE.split(`### ${heading}\n`)
  const [, block = ''] = section.split('```sh\n')
  return block.slice(0, block.indexOf('```')).trim().split('\n')
}

describe.skipIf(postgresMissing ?? opensslMissing)('the page of incidents', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let service: CountersignService
  let server: Awaited<ReturnType<typeof listen>>
  let log: WriteStream
  const folder = temporaryFolder()
  const file = join(folder.path, 'service.log')
  const env: Record<string, string> = {
    SERVICE_SECRET: SECRET,
    SERVICE_DELIVERY: 'inbox',
    NEW_SECRET: 'another secret for tests, long enough to be taken',
  }
  const followed = new Set<string>()

  const cli = async (...args: string[]) => {
    const printed: string[] = []
    const print = (text: string) => void printed.push(text)
    const code = await run(args, { env, ask: undefined, out: print, err: print })
    return { code, text: printed.join('\n') }
  }

  /** Runs the command that the page has below this heading, with values in place of those for examples. */
  async function follow(heading: string, begins: string, values: Readonly<Record<string, string>> = {}) {
    const found = commandsOf(heading).filter((command) => command.startsWith(begins))
    expect([heading, begins, found.length]).toEqual([heading, begins, 1])
    followed.add(`${heading}: ${found[0]}`)
    let command = found[0] ?? ''
    for (const [example, value] of Object.entries(values)) {
      expect(command).toContain(example)
      command = command.replaceAll(example, value)
    }
    const [name, ...words] = command.match(/'[^']*'|"[^"]*"|[^\s]+/g) ?? []
    if (name === 'countersign-service')
      return cli(...words.map((word) => word.replace(/^(['"])(.*)\1$/, '$2')))
    const script = command.startsWith('export ') ? `${command}; env` : command.replaceAll('service.log', file)
    const { status, stdout } = spawnSync('bash', ['-c', script], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    })
    return { code: status, text: stdout }
  }

  async function start(delivery: string): Promise<void> {
    await service?.close()
    await server?.close()
    service = await createService({
      ...{
        databaseUrl: postgres.url,
        secret: env.SERVICE_SECRET ?? '',
        previousSecrets: (env.SERVICE_PREVIOUS_SECRETS ?? '').split(',').filter(Boolean),
        transcriber: 'off',
        delivery,
      },
      logger: jsonLogger(log),
    })
    server = await listen(service.api)
  }
  const post = (key: string, path: string, form: Readonly<Record<string, string>>) =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: new URLSearchParams(form),
    })
  const newKey = async (...more: string[]) => {
    const { text } = await cli('--json', 'key', 'create', 'vault', ...more)
    return JSON.parse(text) as { readonly id: string; readonly key: string }
  }

  let keys: { readonly id: string; readonly key: string }

  beforeAll(async () => {
    postgres = await startPostgres()
    env.DATABASE_URL = postgres.url
    log = createWriteStream(file)
    await start('inbox')
    await cli('app', 'create', 'vault', 'countries=all', 'failuresBeforeLock=5', 'notices=')
    keys = await newKey('--scopes', 'verify,enroll,read,personal-data')
  })
  afterAll(async () => {
    await service.close()
    await server.close()
    log.end()
    await postgres.stop()
    folder.remove()
  })

  test('shows that a country is paused in which codes do not arrive, and resumes it', async () => {
    const heading = 'Codes do not arrive in a country'
    await service.operator('ann').pauseTraffic('vault', 'GB')
    const send = () => post(keys.key, '/v1/mfa', { User: '+447400123456', Type: 'SMS' })
    expect((await send()).status).toBe(422)
    expect((await follow(heading, 'countersign-service traffic show')).text).toMatch(/^GB .*\d{4}-/m)
    expect((await follow(heading, 'countersign-service deliveries')).code).toBe(0)
    expect((await follow(heading, 'countersign-service traffic resume')).code).toBe(0)
    expect((await send()).status).toBe(200)
  })

  test('finds who locks users, and lifts the locks, but forgives no failure (R25, R26)', async () => {
    const heading = 'Many users are locked'
    const users = Array.from({ length: 50 }, (_, i) => `user-${i}`)
    const form = (user: string) => ({ User: `${user}@example.com`, Account: user, Type: 'EMAIL' })
    const guess = (user: string) => post(keys.key, '/v1/mfa/verify', { ...form(user), Code: '000000' })
    for (const user of users) {
      await post(keys.key, '/v1/mfa', form(user))
      for (let i = 0; i < 5; i++) await guess(user)
    }
    expect((await guess('user-0')).status).toBe(429)
    expect((await cli('doctor')).text).toMatch(/warning +locked users +50 users of "vault" are locked/)
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(metrics).toContain('countersign_locked_users{application="vault"} 50')
    const { text } = await follow(heading, 'grep')
    const { request } = JSON.parse(text.trim().split('\n').at(-1) ?? '')
    const lines = readFileSync(file, 'utf8').split('\n')
    const about = lines.find((line) => line.includes(request) && line.includes('"http.request"')) ?? '{}'
    expect(JSON.parse(about)).toMatchObject({ key: keys.id, client: expect.stringMatching(/127\.0\.0\.1$/) })
    const failures = async () => (await cli('user', 'show', 'vault', 'user-1', '--account')).text
    const before = await failures()
    const unlocked = await follow(heading, 'countersign-service user unlock-all')
    expect([unlocked.code, unlocked.text]).toEqual([0, expect.stringContaining('Unlocked users: 50.')])
    const withoutLock = (text: string) => text.replace(/^locked until.*$/m, '')
    expect(before).toMatch(/^EMAIL .* 5 /m)
    expect(withoutLock(await failures())).toBe(withoutLock(before))
    await eventually(async () => expect((await guess('user-0')).status).toBe(401))
    const reason = 'codes guessed from one network, which is blocked'
    const audit = await follow(heading, 'countersign-service audit')
    expect(audit.text).toMatch(new RegExp(`users.unlocked +50 accounts: ${reason}`))
    expect((await cli('doctor')).text).not.toContain('locked users')
  })

  test('sees a clock that is 90 seconds off, and stays ready', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 90_000 })
    try {
      const ready = await fetch(`${server.url}/readyz`)
      expect([ready.status, await ready.json()]).toEqual([
        200,
        {
          status: 'ready',
          checks: expect.objectContaining({
            clock: expect.stringMatching(/^warning: that of the database is (89|9\d) s ahead$/),
          }),
        },
      ])
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      const shown = Number(/^countersign_clock_difference_seconds (\S+)$/m.exec(metrics)?.[1])
      expect(Math.round(shown / 10)).toBe(9)
      expect((await cli('doctor')).text).toMatch(/warning +database +The clocks .* differ by (89|9\d) s/)
    } finally {
      vi.useRealTimers()
    }
  })

  test('replaces a leaked API key, and tells what it did and from where', async () => {
    const heading = 'An API key leaked'
    const leaked = await newKey('--scopes', 'personal-data')
    await post(leaked.key, '/v1/users/erase', { Account: 'user-7' })
    expect((await follow(heading, 'countersign-service key list')).text).toContain(leaked.id)
    expect((await follow(heading, 'countersign-service key create')).text).toContain('mfa_live_')
    expect(
      (await follow(heading, 'countersign-service key revoke', { key_0123456789: leaked.id })).code,
    ).toBe(0)
    await eventually(async () =>
      expect((await post(leaked.key, '/v1/users/export', { Account: 'user-7' })).status).toBe(401),
    )
    const { text } = await follow(heading, 'grep', { key_0123456789: leaked.id })
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))[0],
    ).toMatchObject({
      ...{ event: 'http.request', route: '/v1/users/erase', status: 200, application: 'vault' },
      ...{ key: leaked.id, client: expect.stringMatching(/127\.0\.0\.1$/) },
    })
    expect((await follow(heading, 'countersign-service audit')).text).toMatch(
      new RegExp(`${leaked.id} +vault +user\\.erased`),
    )
  })

  test('replaces a leaked secret, and drops the backup codes', async () => {
    const heading = 'A secret leaked'
    const { email } = freshEmail()
    await post(keys.key, '/v1/mfa/app', { User: email, Account: 'with-app' })
    const { text } = await follow(heading, 'export')
    for (const name of ['SERVICE_SECRET', 'SERVICE_PREVIOUS_SECRETS'])
      env[name] = new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? ''
    expect([env.SERVICE_SECRET, env.SERVICE_PREVIOUS_SECRETS]).toEqual([env.NEW_SECRET, SECRET])
    const rotated = await follow(heading, 'countersign-service rotate-secrets')
    expect([rotated.code, rotated.text]).toEqual([0, expect.stringMatching(/Moved \d+ sealed texts/)])
    expect((await follow(heading, 'countersign-service doctor')).text).toContain('secrets')
    await start('inbox')
  })

  test('voids what may have been used since the time of a restore', async () => {
    const heading = 'The database is lost or restored'
    const time = { '2026-11-22 04:30:00+00': new Date(Date.now() - 60_000).toISOString() }
    const { code, text } = await follow(heading, 'countersign-service restored', time)
    expect([code, text]).toEqual([0, expect.stringContaining('Void: ')])
    expect((await follow(heading, 'countersign-service doctor')).text).toContain('database')
    expect((await follow(heading, 'countersign-service audit')).text).toContain('restored')
  })

  test('sends waiting messages by a second carrier', async () => {
    const heading = 'A carrier fails'
    const arrived: string[] = []
    const carrier: Server = createServer((request, response) => {
      request.resume().on('end', () => response.end('{}'))
      arrived.push(request.url ?? '')
    })
    await new Promise<void>((resolve) => carrier.listen(0, '127.0.0.1', resolve))
    const address = carrier.address()
    const second = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/codes`
    const dead = `smtp://127.0.0.1:${await freePort()}?from=vault%40vault.example`
    env.SERVICE_DELIVERY = `email=${dead}`
    await start(env.SERVICE_DELIVERY)
    const sent = await post(keys.key, '/v1/mfa', { User: freshEmail().email, Type: 'EMAIL' })
    expect([sent.status, arrived]).toEqual([200, []])
    expect((await follow(heading, 'countersign-service deliveries')).text).toMatch(/email .*queued/)
    const doctor = await follow(heading, 'countersign-service doctor')
    expect(doctor).toMatchObject({ code: 1, text: expect.stringContaining('smtp') })
    await start(`email=${dead}|${second}`)
    await eventually(() => expect(arrived).toEqual(['/codes']))
    await start('inbox')
    env.SERVICE_DELIVERY = 'inbox'
    carrier.close()
  })

  test('shows when a certificate expires', async () => {
    const heading = 'A certificate expires'
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder.path, name)) as [string, string]
    const about = ['-days', '1', '-subj', '/CN=mfa.example', '-keyout', key, '-out', cert]
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...about], { stdio: 'ignore' })
    const proxy = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }).listen(0, '127.0.0.1')
    proxy.on('tlsClientError', () => {})
    await new Promise((resolve) => proxy.once('listening', resolve))
    const address = proxy.address()
    // In a process of its own, while this one serves TLS.
    const command = commandsOf(heading)[0] ?? ''
    followed.add(`${heading}: ${command}`)
    const port = typeof address === 'object' ? address?.port : ''
    const { spawn } = await import('node:child_process')
    const shell = spawn('bash', ['-c', command.replace('mfa.example:443', `127.0.0.1:${port}`)])
    let text = ''
    shell.stdout.on('data', (chunk) => (text += chunk))
    await new Promise((resolve) => shell.once('close', resolve))
    const tomorrow = new Date(Date.now() + 86_400_000)
    expect(text).toMatch(/^notAfter=/)
    expect(Math.abs(Date.parse(text.slice('notAfter='.length)) - tomorrow.getTime())).toBeLessThan(600_000)
    expect((await follow(heading, 'countersign-service doctor')).text).toContain('carriers')
    proxy.close()
  })

  test('pauses a destination of SMS pumping, bounds phones, and resumes it', async () => {
    const heading = 'SMS are pumped'
    const send = () => post(keys.key, '/v1/mfa', { User: '+447400123457', Type: 'SMS' })
    await send()
    expect((await follow(heading, 'countersign-service traffic show')).text).toContain('+44740012')
    expect((await follow(heading, 'countersign-service traffic pause')).code).toBe(0)
    await eventually(async () => expect((await send()).status).toBe(422))
    expect((await follow(heading, 'countersign-service app settings')).text).toMatch(/phoneSendsPercent +20/)
    expect((await follow(heading, 'countersign-service traffic resume')).code).toBe(0)
    await eventually(async () => expect((await send()).status).not.toBe(422))
  })

  test('has no command that was not followed', () => {
    const headings = [...PAGE.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading)
    const all = headings.flatMap((heading) => commandsOf(heading).map((command) => `${heading}: ${command}`))
    expect([...followed].sort()).toEqual(all.sort())
    expect(headings).toHaveLength(8)
  })
})
