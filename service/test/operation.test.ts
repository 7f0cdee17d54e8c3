import { type CountersignService, createService, jsonLogger, type ServiceOptions } from '@countersign/service'
import { SERVICE_PROBLEMS } from 'countersign/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postForm } from './api-kit.js'
import { API_KEY, appCode, eventually, freshEmail, freshPhone, listen, SECRET, wrong } from './kit.js'

interface Running {
  readonly service: CountersignService
  readonly url: string
  /** The whole log. */
  log(): string
  lines(): Record<string, unknown>[]
  stop(): Promise<void>
}

async function run(more: Partial<ServiceOptions> = {}): Promise<Running> {
  let text = ''
  const service = await createService({
    dataDir: 'memory://',
    secret: SECRET,
    apiKey: API_KEY,
    delivery: 'inbox',
    logger: jsonLogger({ write: (line) => (text += line) }),
    ...more,
  })
  const server = await listen(service.api)
  return {
    service,
    url: server.url,
    log: () => text,
    lines: () =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    async stop() {
      await server.close()
      await service.close()
    },
  }
}

let one: Running
beforeAll(async () => {
  one = await run()
})
afterAll(() => one.stop())

const lastMessage = async (to: string) => (await one.service.inbox?.messages({ to }))?.[0]?.text ?? ''

describe('the log', () => {
  test('has one line per request, with its id, route, status and application', async () => {
    const { email } = freshEmail()
    const form = { User: email, Type: 'EMAIL', Code: '123456' }
    const answer = await postForm(`${one.url}/v1/mfa/verify`, form, { 'x-request-id': 'trace-1' })
    expect(answer.headers.get('x-request-id')).toBe('trace-1')
    await eventually(() => expect(one.log()).toContain('http.request'))
    const lines = one.lines().filter(({ request }) => request === 'trace-1')
    expect(lines).toEqual([
      expect.objectContaining({ event: 'verify.failed', level: 'info' }),
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        event: 'http.request',
        request: 'trace-1',
        method: 'POST',
        route: '/v1/mfa/verify',
        status: 401,
        ms: expect.any(Number),
        application: 'default',
        key: 'SERVICE_API_KEY',
        client: expect.stringMatching(/127\.0\.0\.1$/),
        problem: 'invalid_code',
      },
    ])
  })

  test("uses the caller's request id if it is valid, and a new one otherwise", async () => {
    for (const id of ['a b', 'x'.repeat(65), '{"a":1}', '<script>', 'é', '']) {
      const response = await fetch(`${one.url}/healthz`, { headers: { 'x-request-id': id } })
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test('does not mention successful probes, or addresses as the caller wrote them', async () => {
    await fetch(`${one.url}/healthz`)
    await fetch(`${one.url}/ann@example.com?code=123456`)
    await eventually(() => expect(one.log()).toContain('"route":"unknown"'))
    expect(one.log()).not.toContain('healthz')
    expect(one.log()).not.toContain('ann@')
  })

  test('contains no code, secret, key or contact after a complete journey (R78, R89)', async () => {
    const { email } = freshEmail()
    const { phone } = freshPhone()
    const secrets: string[] = [
      API_KEY,
      SECRET,
      email,
      phone,
      phone.slice(1),
      'account-of-a-user',
      '198.51.100.7',
    ]
    const post = (path: string, form: Record<string, string>) =>
      postForm(
        one.url + path,
        { Account: 'account-of-a-user', ClientAddress: '198.51.100.7', ...form },
        { 'idempotency-key': `key-${path}-${form.User}` },
      )
    for (const [User, Type, verified] of [
      [email, 'EMAIL', 'EMAIL'],
      [phone, 'SMS', 'PHONE'],
      [`${email}:${phone}`, 'DUAL', 'DUAL'],
    ] as const) {
      const { body } = await post('/v1/mfa', { User, Type })
      const code = /\b\d{6}\b/.exec(await lastMessage(User.split(':')[0] ?? ''))?.[0] ?? 'none'
      secrets.push(code, String(body.challenge))
      expect((await post('/v1/mfa/verify', { User, Type: verified, Code: wrong(code) })).status).toBe(401)
      expect((await post('/v1/mfa/verify', { User, Type: verified, Code: code })).status).toBe(200)
    }
    const setup = await post('/v1/mfa/app', { User: email })
    const code = appCode(setup.body.secret)
    secrets.push(setup.body.secret, setup.body.otpauth_uri, code)
    expect((await post('/v1/mfa/verify', { User: email, Type: 'APP', Code: code })).status).toBe(200)
    await post('/v1/mfa/backup', { User: email, Type: 'EMAIL' })
    const backup = (await lastMessage(email)).match(/([0-9A-Z]{4}-){3}[0-9A-Z]{4}/g) ?? []
    expect(backup).toHaveLength(10)
    secrets.push(...backup)
    await post('/v1/mfa/verify', { User: email, Type: 'EMAIL', Code: backup[0] ?? '', Kind: 'BACKUP' })
    await fetch(`${one.url}/v1/mfa`, {
      method: 'POST',
      headers: { authorization: 'Bearer not-the-key-0123456789' },
    })
    await eventually(() => expect(one.log()).toContain('invalid_api_key'))
    secrets.push('not-the-key-0123456789')
    for (const secret of secrets) expect(one.log()).not.toContain(secret)
    for (const secret of backup) expect(one.log()).not.toContain(secret.replaceAll('-', ''))
  })
})

describe('the metrics', () => {
  const read = async (url = one.url, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/metrics`, { headers })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    }
  }

  test('count requests, verifications, sends and deliveries, and show the queue', async () => {
    const { email } = freshEmail()
    const form = { User: email, Type: 'EMAIL' }
    await postForm(`${one.url}/v1/mfa`, form)
    const code = /\b\d{6}\b/.exec(await lastMessage(email))?.[0] ?? ''
    await postForm(`${one.url}/v1/mfa/verify`, { ...form, Code: wrong(code) })
    await postForm(`${one.url}/v1/mfa/verify`, { ...form, Code: code })
    for (let i = 0; i < 11; i++) {
      await postForm(`${one.url}/v1/mfa/verify`, { User: '+447700900999', Type: 'APP', Code: '123456' })
    }
    const { status, type, text } = await read()
    expect([status, type]).toEqual([200, expect.stringContaining('text/plain')])
    for (const line of [
      /countersign_http_request_seconds_count\{method="POST",route="\/v1\/mfa\/verify",status="401"\} \d/,
      /countersign_verifications_total\{application="default",method="EMAIL",outcome="valid"\} \d/,
      /countersign_verifications_total\{application="default",method="EMAIL",outcome="invalid"\} \d/,
      /countersign_verifications_total\{application="default",method="APP",outcome="locked"\} 1/,
      /countersign_sends_total\{application="default",method="email",outcome="sent"\} \d/,
      /countersign_delivery_seconds_count\{channel="email",outcome="sent"\} \d/,
      /countersign_deliveries_total\{application="default",channel="email",outcome="sent"\} \d/,
      /countersign_requests_total\{application="default",status="401"\} \d/,
      /countersign_build_info\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+",store="pglite"\} 1/,
      /countersign_queue_messages 0/,
      /countersign_queue_webhook_events 0/,
      /countersign_queue_transcription_jobs 0/,
      /countersign_disabled_webhooks 0/,
      /countersign_paused_destinations\{scope="prefix"\} 0/,
      /countersign_unrecorded_messages 0/,
      /countersign_store_seconds_count\{operation="transaction"\} \d/,
      /process_resident_memory_bytes \d/,
    ]) {
      expect(text).toMatch(line)
    }
    for (const secret of [email, '7700900999', code, API_KEY]) expect(text).not.toContain(secret)
  })

  test('are only served to this machine without a metrics key', async () => {
    expect((await read()).status).toBe(200)
    for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
      expect((await read(one.url, { [header]: '127.0.0.1' })).status).toBe(404)
    }
  })

  test('are not served without a key where others may reach the service (R100)', async () => {
    const other = await run({ metricsWithoutKey: false })
    const { status } = await read(other.url)
    await other.stop()
    expect(status).toBe(404)
  })

  test('require the metrics key if there is one', async () => {
    const other = await run({ metricsKey: 'key-of-the-metrics-0123456789' })
    const answers = [
      await read(other.url),
      await read(other.url, { authorization: `Bearer ${API_KEY}` }),
      await read(other.url, {
        authorization: 'Bearer key-of-the-metrics-0123456789',
        'x-forwarded-for': '192.0.2.1',
      }),
    ]
    await other.stop()
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 200])
  })
})

describe('the health routes', () => {
  test('report a service that is alive and ready', async () => {
    const ready = await fetch(`${one.url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', checks: { store: 'ok', migrations: 'ok', process: 'ok' } },
    ])
  })

  test('report that a draining service is not ready, while it still answers and closes connections', async () => {
    const other = await run()
    other.service.drain()
    const ready = await fetch(`${other.url}/readyz`)
    const body = await ready.json()
    const { email } = freshEmail()
    const sent = await postForm(`${other.url}/v1/mfa`, { User: email, Type: 'EMAIL' })
    const alive = await fetch(`${other.url}/healthz`)
    await other.stop()
    expect([ready.status, body]).toEqual([
      503,
      { status: 'not_ready', checks: { store: 'ok', migrations: 'ok', process: 'shutting down' } },
    ])
    expect([sent.status, alive.status]).toEqual([200, 200])
    expect(sent.headers.get('connection')).toBe('close')
  })

  test('report that a service without its store is not ready, without further details', async () => {
    const other = await run()
    await other.service.close()
    const ready = await fetch(`${other.url}/readyz`)
    const body = await ready.json()
    await other.stop().catch(() => {})
    expect(ready.status).toBe(503)
    expect(body).toMatchObject({ checks: { store: 'does not answer', migrations: 'not known' } })
  })
})

describe('the type of a problem', () => {
  test('links to a page for browsers and to JSON for programs', async () => {
    const { body } = await postForm(`${one.url}/v1/mfa/verify`, { User: 'a@example.com' })
    expect(body.type).toBe('/problems/invalid_request')
    const address = new URL(body.type, `${one.url}/v1/mfa/verify`)
    const problem = await (await fetch(address)).json()
    expect(problem).toMatchObject({ code: 'invalid_request', status: 400, happened: expect.any(String) })
    const page = await fetch(address, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(await page.text()).toContain('What to do')
  })

  test('exists for every code, and for no other', async () => {
    const { problems } = (await (await fetch(`${one.url}/problems`)).json()) as {
      problems: { code: string; type: string; status: number; helps: string[] }[]
    }
    expect(problems.map(({ code }) => code).sort()).toEqual([...SERVICE_PROBLEMS].sort())
    for (const { code, type, helps } of problems) {
      expect(helps.length).toBeGreaterThan(0)
      expect(await (await fetch(one.url + type)).json()).toMatchObject({ code })
    }
    const none = await fetch(`${one.url}/problems/no_such_code`)
    expect([none.status, (await none.json()).code]).toEqual([404, 'not_found'])
  })

  test('is absolute only if the operator configured the public address, whatever the Host header says (R16)', async () => {
    const other = await run({ publicUrl: 'https://mfa.example/base/' })
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    const problem = await (await fetch(`${other.url}/nowhere`, { headers })).json()
    const untold = await (await fetch(`${one.url}/nowhere`, { headers })).json()
    await other.stop()
    expect(problem.type).toBe('https://mfa.example/base/problems/not_found')
    expect(untold.type).toBe('/problems/not_found')
  })
})
