import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fileOf, missing } from '../../test/kit/debian-packages.js'
import { freePort } from '../../test/kit/loopback.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { readEnvironment } from '../src/environment.js'
import { createService } from '../src/service.js'
import { API_KEY, listen, SECRET } from './kit.js'

const read = (name: string) => readFileSync(new URL(`../deploy/${name}`, import.meta.url), 'utf8')
const SYSTEMD = '/usr/bin/systemd-analyze'

const { path: folder, remove } = temporaryFolder()
afterAll(remove)

let service: Awaited<ReturnType<typeof createService>>
let server: Awaited<ReturnType<typeof listen>>
beforeAll(async () => {
  service = await createService({
    dataDir: 'memory://',
    secret: SECRET,
    apiKey: API_KEY,
    delivery: 'inbox',
    logger: () => {},
  })
  server = await listen(service.api)
})
afterAll(async () => {
  await server.close()
  await service.close()
})

describe('the unit for systemd', () => {
  const unit = read('countersign.service')

  test('starts the command directly, as a user of its own, again after every exit, and lets it drain', () => {
    expect(unit).toContain('\nExecStart=/opt/countersign/node_modules/.bin/countersign-service serve\n')
    const [, drain = ''] = /SERVICE_DRAIN_DURATION=(\d+)/.exec(unit) ?? []
    const [, stop = ''] = /\nTimeoutStopSec=(\d+)\n/.exec(unit) ?? []
    expect(Number(stop)).toBeGreaterThanOrEqual(Number(drain) + 20)
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
      ...['FROM', 'ENV', 'WORKDIR', 'COPY', 'RUN', 'USER', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'],
    ])
    expect(instruction('USER')).toBe('node')
    expect(JSON.parse(instruction('ENTRYPOINT'))).toEqual([
      `${instruction('WORKDIR')}/node_modules/.bin/countersign-service`,
    ])
    expect(JSON.parse(instruction('CMD'))).toEqual(['serve'])
    expect(env.SERVICE_PORT).toBe(instruction('EXPOSE'))
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

describe.skipIf(missing('nginx-light', 'openssl'))('the TLS proxy', () => {
  let nginx: ChildProcess
  let port: number

  beforeAll(async () => {
    port = await freePort()
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
    execFileSync('openssl', ['req', ...certificate, '-subj', '/CN=mfa.example', ...files], {
      stdio: 'ignore',
    })
    const config = read('nginx.conf')
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replaceAll('/etc/countersign/tls', folder)
      // One of the two processes is down.
      .replace('127.0.0.1:4000', `127.0.0.1:${await freePort()}`)
      .replace('127.0.0.1:4001', new URL(server.url).host)
    writeFileSync(join(folder, 'nginx.conf'), config)
    nginx = spawn(fileOf('nginx-light') ?? 'nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], {
      stdio: 'ignore',
    })
    await vi.waitFor(() => call('/v1/service'), { timeout: 20_000, interval: 20 })
  })
  afterAll(async () => {
    if (!nginx) return
    const gone = once(nginx, 'exit')
    nginx.kill('SIGTERM')
    await gone
  })

  const ca = () => readFileSync(join(folder, 'fullchain.pem'))
  function call(
    path: string,
    { body = '', headers = {} }: { body?: string; headers?: Record<string, string> } = {},
  ) {
    return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
      const method = body ? 'POST' : 'GET'
      const options = { host: '127.0.0.1', port, path, method, ca: ca(), servername: 'mfa.example', headers }
      const sent = request(options, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sent.on('error', reject).end(body)
    })
  }
  const form = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-www-form-urlencoded' }

  test('reaches the process that is up, for every request', async () => {
    for (let i = 0; i < 4; i++) {
      const body = `User=user${i}@example.com&Type=EMAIL`
      expect(await call('/v1/mfa', { body, headers: form })).toMatchObject({ status: 200 })
    }
    const wrong = await call('/v1/mfa/verify', {
      body: 'User=a@example.com&Type=EMAIL&Code=1',
      headers: form,
    })
    expect([wrong.status, JSON.parse(wrong.text).code]).toEqual([401, 'invalid_code'])
  })

  test('shows metrics, probes and documents to nobody, and refuses large bodies', async () => {
    for (const path of ['/metrics', '/healthz', '/readyz', '/docs', '/openapi.json', '/']) {
      expect([path, (await call(path)).status]).toEqual([path, 404])
    }
    expect((await call('/problems/invalid_code')).status).toBe(200)
    expect((await call('/v1/mfa', { body: 'x'.repeat(9_000), headers: form })).status).toBe(413)
    const recording = await call('/v1/transcribe', { body: 'x'.repeat(9_000), headers: form })
    expect(recording.text).toContain('/problems/')
  })
})

test('the guide to deployment mentions every file of the folder', () => {
  const guide = readFileSync(new URL('../docs/deployment.md', import.meta.url), 'utf8')
  for (const name of ['countersign.service', 'Containerfile', 'nginx.conf', 'pgbouncer.ini', 'alerts.yml']) {
    expect(guide).toContain(`(../deploy/${name})`)
  }
})
