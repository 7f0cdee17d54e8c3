import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type CountersignService, createService, type LiveTranscriber } from '@countersign/service'
import { KEY_VERBS } from 'countersign/protocol'
import supertest from 'supertest'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { parse } from 'yaml'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { fileOf, missing } from '../../test/kit/debian-packages.js'
import { everyCase } from '../../test/kit/every-case.js'
import { freePort, listenOnLoopback } from '../../test/kit/loopback.js'
import { PATIENCE_MS } from '../../test/kit/patience.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { limitText } from '../src/accounts/limits.js'
import { apiDocument } from '../src/api/http/openapi/document.js'
import { addConsole, apiServer } from '../src/api/http/server.js'
import { readEnvironment } from '../src/run/environment.js'
import { DEFAULT_LIMITS, decodingTimeoutMs } from '../src/transcription/recording-limits.js'
import { enrollApp, PASSWORD, post, read as readPage, typePassword } from './console/kit.js'
import { type MailServer, mailServer } from './delivery/mail-server.js'
import { entriesOf } from './document-parts.js'
import { API_KEY, eventually, freshEmail, SECRET } from './kit.js'
import { startPostgres } from './postgres.js'
import { type Running, startListening } from './processes.js'
import { ffmpeg } from './recordings.js'
import { KEY_PAGE, RELYING_PARTY } from './software-key.js'

const read = (name: string) => readFileSync(new URL(`../deploy/${name}`, import.meta.url), 'utf8')
const SYSTEMD = '/usr/bin/systemd-analyze'

const { path: folder, remove } = temporaryFolder()
afterAll(remove)

let service: CountersignService
let server: { readonly url: string; close(): Promise<void> }
beforeAll(async () => {
  service = await createService({
    dataDir: 'memory://',
    secret: SECRET,
    apiKey: API_KEY,
    delivery: 'inbox',
    relyingParty: RELYING_PARTY,
    transcriber: 'command:echo spoken in {file}',
    liveTranscriber: engine,
    console: { trustedProxies: ['loopback'], url: 'https://mfa.example' },
    logger: () => {},
  })
  if (!service.console) throw new Error('The service has no console.')
  const listening = apiServer(addConsole(service.api, service.console))
  service.attach(listening)
  const port = await listenOnLoopback(listening)
  server = {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        listening.close(() => resolve())
        listening.closeAllConnections()
      }),
  }
})
afterAll(async () => {
  service.closeStreams()
  await server.close()
  await service.close()
})

/** An engine that hears the same words in every stream. */
const engine: LiveTranscriber = {
  name: 'the same words',
  open: async ({ onPiece }) => ({
    write: async () => {},
    end: async () => onPiece({ type: 'final', text: 'go forward', startMs: 0, endMs: 0 }),
  }),
}

describe('the unit for systemd', () => {
  const unit = read('countersign.service')

  test('starts the command directly, as a user of its own, again after every exit, and lets it drain', () => {
    expect(unit).toContain('\nExecStart=/opt/countersign/node_modules/.bin/countersign-service serve\n')
    const [, drain = ''] = /SERVICE_DRAIN_DURATION=(\d+)/.exec(unit) ?? []
    const [, stop = ''] = /\nTimeoutStopSec=(\d+)\n/.exec(unit) ?? []
    expect(Number(stop)).toBeGreaterThanOrEqual(Number(drain) + 25)
    for (const line of ['Restart=always', 'DynamicUser=yes', 'ProtectSystem=strict'])
      expect(unit).toContain(`\n${line}\n`)
  })

  test('is accepted by systemd, where that is installed', () => {
    if (!existsSync(SYSTEMD)) return
    const verify = (text: string) => {
      const file = join(folder, 'countersign.service')
      writeFileSync(
        file,
        text.replace('/opt/countersign/node_modules/.bin/countersign-service', process.execPath),
      )
      execFileSync(SYSTEMD, ['verify', '--man=no', file], { stdio: 'pipe' })
    }
    verify(unit)
    expect(() => verify(unit.replace('ExecStart=', 'ExecStartx='))).toThrow('Unknown key')
  })
})

describe('the container file', () => {
  const instructions = read('Containerfile')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => ({ name: line.slice(0, line.indexOf(' ')), value: line.slice(line.indexOf(' ') + 1) }))
  const instruction = (name: string) => instructions.find((one) => one.name === name)?.value ?? ''
  const env = Object.fromEntries(
    instruction('ENV')
      .split(' ')
      .map((pair) => pair.split('=')),
  ) as Record<string, string>

  test('runs as a user without privileges, and hands signals to the service', () => {
    expect(instructions.map(({ name }) => name)).toEqual([
      ...[
        'FROM',
        'ENV',
        'RUN',
        'WORKDIR',
        'COPY',
        'RUN',
        'USER',
        'EXPOSE',
        'HEALTHCHECK',
        'ENTRYPOINT',
        'CMD',
      ],
    ])
    expect(instruction('USER')).toBe('node')
    expect(JSON.parse(instruction('ENTRYPOINT'))).toEqual([
      `${instruction('WORKDIR')}/node_modules/.bin/countersign-service`,
    ])
    expect(JSON.parse(instruction('CMD'))).toEqual(['serve'])
    expect(env.SERVICE_PORT).toBe(instruction('EXPOSE'))
  })

  test('has what decodes recordings, and says that it has no engine', () => {
    expect(instruction('RUN')).toContain(' ffmpeg ')
    expect(read('Containerfile')).toContain('SERVICE_TRANSCRIBER')
  })

  test('sets variables that the service understands', () => {
    const more = {
      SERVICE_SECRET: SECRET,
      SERVICE_DELIVERY: 'smtp://mail.example?from=a@b.example',
      DATABASE_URL: 'postgresql://db/mfa',
    }
    expect(readEnvironment({ ...env, ...more }, { dataDir: folder }).host).toBe('0.0.0.0')
  })

  test('checks the health of the service', async () => {
    const [, json = ''] = /CMD (\[.*)$/.exec(instruction('HEALTHCHECK')) ?? []
    const [command = '', ...args] = JSON.parse(json)
    const check = (port: string) =>
      promisify(execFile)(command, args, { env: { ...process.env, SERVICE_PORT: port } })
    await check(new URL(server.url).port)
    await expect(check(String(await freePort()))).rejects.toMatchObject({ code: 1 })
  })
})

/** Makes a certificate for the proxy, in the folder of the tests. */
function makeCertificate(): void {
  const certificate = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '1',
  ]
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'fullchain.pem')]
  execFileSync('openssl', ['req', ...certificate, '-subj', '/CN=mfa.example', ...files], { stdio: 'ignore' })
}

interface Call {
  readonly method?: string
  readonly body?: string | Buffer
  readonly headers?: Record<string, string>
}

/** Starts nginx with the shipped configuration in front of processes at these two ports. */
async function startProxy(ports: readonly [number, number]) {
  const port = await freePort()
  const file = join(folder, `nginx-${port}.conf`)
  const config = read('nginx.conf')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('pid nginx.pid', `pid nginx-${port}.pid`)
    .replaceAll('/etc/countersign/tls', folder)
    .replaceAll('127.0.0.1:4000', `127.0.0.1:${ports[0]}`)
    .replaceAll('127.0.0.1:4001', `127.0.0.1:${ports[1]}`)
    // Longer than a busy machine needs to start a process.
    .replaceAll('fail_timeout=5s', 'fail_timeout=60s')
  writeFileSync(file, config)
  const nginx = spawn(fileOf('nginx-light') ?? 'nginx', ['-c', file, '-p', folder], { stdio: 'ignore' })
  /** The answer of the proxy; `isOurs` says whether the answer came from the service. */
  const call = (path: string, { method, body = '', headers = {} }: Call = {}) =>
    new Promise<{ readonly status: number; readonly text: string; readonly isOurs: boolean }>(
      (resolve, reject) => {
        const options = {
          ...{ host: '127.0.0.1', port, path, headers, method: method ?? (body.length > 0 ? 'POST' : 'GET') },
          ...{ ca: readFileSync(join(folder, 'fullchain.pem')), servername: 'mfa.example' },
        }
        const sent = request(options, (response) => {
          let text = ''
          response.on('data', (chunk) => {
            text += chunk
          })
          const isOurs = response.headers['countersign-api'] !== undefined
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text, isOurs }))
        })
        sent.on('error', reject).end(body)
      },
    )
  await vi.waitFor(() => call('/v1/service'), { timeout: PATIENCE_MS, interval: 20 })
  return {
    port,
    file,
    call,
    async stop() {
      const gone = once(nginx, 'exit')
      nginx.kill('SIGTERM')
      await gone
    },
  }
}

describe.skipIf(missing('nginx-light', 'openssl', 'postgresql'))('an upgrade behind the TLS proxy', () => {
  test('that restarts one process after the other, each as soon as the one before is ready, loses no request and repeats none (R76)', async () => {
    makeCertificate()
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const ports = [await freePort(), await freePort()] as const
    const processes: Running[] = []
    const startAt = async (port: number) => {
      const running = await startListening({
        ...{ DATABASE_URL: postgres.url, SERVICE_SECRET: SECRET, SERVICE_API_KEY: API_KEY },
        ...{ SERVICE_PORT: String(port), SERVICE_DRAIN_DURATION: '1s', SERVICE_DELIVERY: 'inbox' },
      })
      processes.push(running)
      await eventually(async () => expect((await fetch(`${running.url}/readyz`)).status).toBe(200))
    }
    onTestFinished(async () => {
      for (const { child, ended } of processes) {
        child.kill('SIGKILL')
        await ended
      }
    })
    for (const port of ports) await startAt(port)
    const proxy = await startProxy(ports)
    onTestFinished(() => proxy.stop())

    const statuses: number[] = []
    let isOver = false
    const headers = {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/x-www-form-urlencoded',
    }
    /** A client that sends one request after the other. */
    const client = async () => {
      while (!isOver) {
        const body = String(new URLSearchParams({ User: freshEmail().email, Type: 'EMAIL' }))
        statuses.push((await proxy.call('/v1/mfa', { body, headers })).status)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    const clients = [client(), client()]
    for (const [index, port] of ports.entries()) {
      processes[index]?.child.kill('SIGTERM')
      expect(await processes[index]?.ended).toBe(0)
      await startAt(port)
    }
    isOver = true
    await Promise.all(clients)
    expect(statuses.length).toBeGreaterThan(50)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    const logs = processes.flatMap((running) => running.log().trim().split('\n'))
    const requests = logs
      .map((line) => JSON.parse(line))
      .filter(({ event, route }) => event === 'http.request' && route === '/v1/mfa')
    expect(requests).toHaveLength(statuses.length)
  })
})

describe.skipIf(missing('nginx-light', 'openssl'))('the TLS proxy', () => {
  let proxy: Awaited<ReturnType<typeof startProxy>>

  beforeAll(async () => {
    makeCertificate()
    // One of the two processes is down.
    proxy = await startProxy([await freePort(), Number(new URL(server.url).port)])
  })
  afterAll(() => proxy?.stop())

  const call = (path: string, how?: Call) => proxy.call(path, how)
  const authorization = `Bearer ${API_KEY}`
  const form = { authorization, 'content-type': 'application/x-www-form-urlencoded' }
  const json = { authorization, 'content-type': 'application/json' }
  const upload = (path: string, recording: Buffer, headers: Record<string, string> = {}) =>
    call(path, {
      headers: { authorization, 'content-type': 'multipart/form-data; boundary=b', ...headers },
      body: Buffer.concat([
        Buffer.from(
          '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n',
        ),
        recording,
        Buffer.from('\r\n--b--\r\n'),
      ]),
    })
  const codeOf = ({ text }: { readonly text: string }) => JSON.parse(text).code

  test('is accepted by nginx', () => {
    execFileSync(fileOf('nginx-light') ?? 'nginx', ['-t', '-c', proxy.file, '-p', folder], { stdio: 'pipe' })
  })

  test('reaches the process that is up, for every request', async () => {
    for (let i = 0; i < 4; i++) {
      const body = `User=user${i}@example.com&Type=EMAIL`
      expect(await call('/v1/mfa', { body, headers: form })).toMatchObject({ status: 200 })
    }
    const wrong = await call('/v1/mfa/verify', {
      body: 'User=a@example.com&Type=EMAIL&Code=1',
      headers: form,
    })
    expect([wrong.status, codeOf(wrong)]).toEqual([401, 'invalid_code'])
  })

  test('passes every documented call on, and its largest body', async () => {
    const paths = entriesOf(apiDocument().paths).filter(([path]) => path.startsWith('/v1/'))
    expect(paths.length).toBeGreaterThan(20)
    for (const [path, item] of paths) {
      for (const [method] of entriesOf(item)) {
        const address = path.replace('{provider}', 'ses').replace(/\{\w+\}/g, 'unknown')
        const isPost = method === 'post'
        const answer = await call(address, {
          method: method.toUpperCase(),
          headers: json,
          // The service itself must refuse a body that is too large.
          ...(isPost && { body: JSON.stringify({ User: 'x'.repeat(600_000) }) }),
        })
        expect([path, method, answer.isOurs]).toEqual([path, method, true])
        if (isPost) expect([400, 404, 413, 415]).toContain(answer.status)
      }
    }
    for (const { path, maxBytes = 4_096 } of Object.values<{ path: string; maxBytes?: number }>({
      ...KEY_VERBS,
    })) {
      if (path.includes('relying-party')) continue
      const body = JSON.stringify({ User: 'ann@example.com', Name: 'x'.repeat(maxBytes - 50) })
      const answer = await call(path, { headers: json, body })
      expect([path, answer.isOurs, answer.status === 413]).toEqual([path, true, false])
      const larger = await call(path, { headers: json, body: body.padEnd(maxBytes + 1) })
      expect([path, larger.status, codeOf(larger)]).toEqual([path, 413, 'body_too_large'])
    }
  })

  test('registers a key, and accepts it', async () => {
    const device = softwareAuthenticator()
    const ask = async (path: string, parameters: object) => {
      const body = JSON.stringify({ User: 'kim@example.com', Type: 'PASSKEY', ...parameters })
      const answer = await call(`/v1/mfa/keys/${path}`, { headers: json, body })
      expect([path, answer.status]).toEqual([path, 200])
      return JSON.parse(answer.text)
    }
    const { options: creation } = await ask('registration/options', {})
    await ask('registration/verify', { Response: device.create(creation, KEY_PAGE) })
    const { options } = await ask('authentication/options', {})
    const shown = await ask('authentication/verify', { Response: device.get(options, KEY_PAGE) })
    expect(shown).toMatchObject({ valid: true, user_verified: true })
  })

  test.skipIf(missing('ffmpeg'))('transcribes uploads of every size that the service accepts', async () => {
    const recording = async (seconds: number) => {
      const path = join(folder, `${seconds}.wav`)
      await ffmpeg('-f', 'lavfi', '-i', `sine=duration=${seconds}:sample_rate=48000`, path)
      return readFileSync(path)
    }
    const short = await upload('/v1/transcribe', await recording(2))
    expect([short.status, JSON.parse(short.text).text]).toEqual([200, expect.stringContaining('spoken in')])
    const long = await recording(250)
    expect(long.length).toBeGreaterThan(23_000_000)
    expect(JSON.parse((await upload('/v1/transcribe', long)).text).text).toContain('spoken in')
    const tooLarge = await upload('/v1/transcribe', await recording(300))
    expect([tooLarge.status, codeOf(tooLarge)]).toEqual([413, 'file_too_large'])
    const progress = await upload('/v1/transcribe', await recording(2), { accept: 'text/event-stream' })
    expect(progress.text).toMatch(/event: progress[\s\S]*event: result/)

    const job = await upload('/v1/transcribe/jobs', await recording(2))
    expect(job.status).toBe(202)
    const { id } = JSON.parse(job.text)
    await eventually(async () => {
      const { text } = await call(`/v1/transcribe/jobs/${id}`, { headers: { authorization } })
      expect(JSON.parse(text)).toMatchObject({ state: 'done', result: { text: expect.any(String) } })
    })
    expect(
      await call(`/v1/transcribe/jobs/${id}`, { method: 'DELETE', headers: { authorization } }),
    ).toMatchObject({
      status: 204,
    })
  })

  test('passes a stream on, with a ticket', async () => {
    const { text } = await call('/v1/transcribe/tickets', { headers: json, body: '{}' })
    const { ticket } = JSON.parse(text)
    const address = `wss://127.0.0.1:${proxy.port}/v1/transcribe/stream?ticket=${ticket}`
    const socket = new WebSocket(address, ['transcribe.v1'], { rejectUnauthorized: false })
    const messages: { type: string; text?: string }[] = []
    socket.on('message', (data) => {
      const message = JSON.parse(String(data))
      messages.push(message)
      if (message.type !== 'ready') return
      socket.send(Buffer.alloc(32_000))
      socket.send(JSON.stringify({ type: 'end' }))
    })
    const [code] = await once(socket, 'close')
    expect(code).toBe(1000)
    expect(messages).toContainEqual(expect.objectContaining({ type: 'final', text: 'go forward' }))
  })

  test('shows the console to private networks, with sign-in and pages', async () => {
    const email = 'ops@example.com'
    const { token } = await service.operator('system').inviteOperator({ email, role: 'admin' })
    const browser = supertest.agent(`https://127.0.0.1:${proxy.port}`).disableTLSCerts()
    browser.set('Sec-Fetch-Site', 'same-origin').set('Accept', 'text/html')
    await post(browser, `/console/invitation/${token}`, { password: PASSWORD, again: PASSWORD }).expect(307)
    const signedIn = await typePassword(browser, email).expect(303)
    expect(String(signedIn.headers['set-cookie'])).toContain('Secure')
    await enrollApp(browser)
    expect(await readPage(browser, '/console')).toContain('Carriers')
    await browser.get('/console/assets/console.css').expect(200)
    expect(read('nginx.conf')).toMatch(/location ~ \^\/console[^{]+\{[^}]*deny all;/)
  })

  test('shows metrics, probes and documents to nobody', async () => {
    for (const path of [
      '/metrics',
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/',
      '/consoles',
      '/problemsolver',
    ]) {
      const { status, isOurs } = await call(path)
      expect([path, status, isOurs]).toEqual([path, 404, false])
    }
    expect((await call('/problems/invalid_code')).status).toBe(200)
  })

  test('waits longer than any request may take', () => {
    const [, seconds] = /proxy_read_timeout (\d+)s;/.exec(read('nginx.conf')) ?? []
    const [, longest] = /to (\d+)s/.exec(limitText('requestTimeout')?.allowed ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThan(Number(longest))
    const { arrivalMs, maxSeconds, engineMs } = DEFAULT_LIMITS.waiting
    const longestWaitMs = arrivalMs + decodingTimeoutMs(maxSeconds) + engineMs(maxSeconds)
    expect(Number(seconds) * 1_000).toBeGreaterThan(longestWaitMs)
  })
})

interface ComposedService {
  readonly environment?: Record<string, string>
  readonly ports?: string[]
  readonly depends_on?: object
}

describe('the compose file', () => {
  const { services } = parse(read('compose.yml')) as {
    services: Record<string, ComposedService>
  }
  const { environment = {}, ports = [], ...more }: ComposedService = services.service ?? {}

  test('starts the service, PostgreSQL and a mail catcher, and names each as the service does', () => {
    expect(Object.keys(services)).toEqual(['service', 'postgres', 'mail'])
    expect(Object.keys(more.depends_on ?? {})).toEqual(['postgres', 'mail'])
    expect(new URL(environment.DATABASE_URL ?? '').hostname).toBe('postgres')
    expect(environment.SERVICE_DELIVERY).toContain('//mail:1025?')
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = services.postgres?.environment ?? {}
    expect(environment.DATABASE_URL).toBe(
      `postgresql://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`,
    )
    expect(more).toMatchObject({ build: { dockerfile: 'Containerfile' }, stop_grace_period: '35s' })
    const [, exposed] = /^EXPOSE (\d+)$/m.exec(read('Containerfile')) ?? []
    expect(ports).toEqual([`127.0.0.1:${exposed}:${exposed}`])
    for (const { ports = [] } of Object.values(services))
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  })
})

/** The variables of each file, and what an operator adds to them. */
const unitVariables = (text: string) =>
  Object.fromEntries(
    (/^Environment=(.*)$/m.exec(text)?.[1] ?? '')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]),
  )
const imageVariables = (text: string) =>
  Object.fromEntries(
    (/^ENV (.*)$/m.exec(text)?.[1] ?? '').split(' ').map((pair) => pair.split('=') as [string, string]),
  )

describe.skipIf(missing('postgresql'))('the service with the variables of a shipped file', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let mails: MailServer
  beforeAll(async () => {
    postgres = await startPostgres()
    mails = await mailServer()
  })
  afterAll(async () => {
    await postgres.stop()
    await mails.close()
  })

  test('starts, says which engine it has, sends a code, and ends within its time', () =>
    everyCase(
      [
        ['countersign.service', unitVariables(read('countersign.service'))],
        ['Containerfile', imageVariables(read('Containerfile'))],
        ['compose.yml', composeVariables()],
      ] as const,
      async ([, variables]) => {
        const running = await startListening({
          SERVICE_SECRET: SECRET,
          SERVICE_API_KEY: API_KEY,
          ...variables,
          SERVICE_DELIVERY: delivery(variables),
          DATABASE_URL: postgres.url,
          SERVICE_PORT: '0',
          SERVICE_DRAIN_DURATION: '0s',
        })
        try {
          const started = () =>
            running
              .log()
              .split('\n')
              .find((line) => line.includes('"service.started"'))
          await eventually(() => expect(started()).toBeDefined())
          expect(JSON.parse(started() ?? '')).toMatchObject({ transcriber: expect.any(String) })
          expect((await fetch(`${running.url}/readyz`)).status).toBe(200)
          const before = mails.arrived.length
          const response = await fetch(`${running.url}/v1/mfa`, {
            method: 'POST',
            headers: { authorization: `Bearer ${API_KEY}` },
            body: new URLSearchParams({ User: freshEmail().email, Type: 'EMAIL' }),
          })
          expect(await response.json()).toMatchObject({ status: 'sent' })
          expect(mails.arrived).toHaveLength(before + 1)
          running.child.kill('SIGTERM')
          expect(await running.ended).toBe(0)
        } finally {
          running.child.kill('SIGKILL')
        }
      },
    ))

  /** With the mail server of the test in place of the one in the file. */
  function delivery({ SERVICE_DELIVERY }: Record<string, string>): string {
    const given = SERVICE_DELIVERY ?? 'email=smtp://mail:1025?from=no-reply@vault.example&tls=optional'
    expect(given).toContain('//mail:1025')
    return given.replace('mail:1025', `127.0.0.1:${mails.port}`)
  }

  /** The variables of the compose file and of its image. */
  function composeVariables(): Record<string, string> {
    const { services } = parse(read('compose.yml'))
    return {
      ...imageVariables(read('Containerfile')),
      ...services.service.environment,
      SERVICE_SECRET: SECRET,
      SERVICE_API_KEY: API_KEY,
    }
  }
})

test('the guide to deployment mentions every file of the folder', () => {
  const guide = readFileSync(new URL('../docs/deployment.md', import.meta.url), 'utf8')
  for (const name of readdirSync(new URL('../deploy/', import.meta.url)).filter(
    (name) => !name.endsWith('.sh'),
  )) {
    expect(guide).toContain(`(../deploy/${name})`)
  }
})
