import { connect } from 'node:net'
import { type CountersignService, createService } from '@countersign/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { API_KEY, appCode, freshEmail, freshPhone, listen, SECRET, wrong } from './kit.js'

let service: CountersignService
let server: Awaited<ReturnType<typeof listen>>
beforeAll(async () => {
  service = await createService({
    dataDir: 'memory://',
    secret: SECRET,
    apiKey: API_KEY,
    applicationName: 'Vault',
    origin: 'vault.example',
    delivery: 'inbox',
    logger: () => {},
  })
  server = await listen(service.api)
})
afterAll(async () => {
  await server.close()
  await service.close()
})

const bearer = { authorization: `Bearer ${API_KEY}` }

async function post(path: string, parameters: Record<string, string>) {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: bearer,
    body: new URLSearchParams(parameters),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

async function postRaw(
  path: string,
  contentType: string | undefined,
  body: BodyInit | undefined,
  headers = {},
) {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { ...bearer, ...(contentType && { 'content-type': contentType }), ...headers },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

async function codeFor(to: string): Promise<string> {
  const messages = await service.inbox?.messages({ to })
  return /\b\d{6}\b/.exec(messages?.[0]?.text ?? '')?.[0] ?? 'no code was sent'
}

describe('the published API', () => {
  test('reads a plus sign that a form leaves as it is in every call, also behind the colon of DUAL', async () => {
    const form = 'application/x-www-form-urlencoded'
    const calls = [
      ['/v1/mfa', 'SMS', 'PHONE'],
      ['/v1/mfa', 'WHATSAPP', 'PHONE'],
      ['/v1/mfa', 'CALL', 'PHONE'],
      ['/v1/mfa', 'DUAL', 'DUAL'],
      ['/v1/mfa/app', '', 'APP'],
      ['/v1/mfa/backup', 'SMS', 'PHONE'],
      ['/v1/mfa/backup', 'DUAL', 'DUAL'],
    ] as const
    await everyCase(calls, async ([path, type, verifiedAs]) => {
      const { phone } = freshPhone()
      const user = type === 'DUAL' ? `${freshEmail().email}:${phone}` : phone
      const { status, body } = await postRaw(path, form, `User=${user}${type && `&Type=${type}`}`)
      expect(status).toBe(200)
      const [message] = (await service.inbox?.messages({ to: phone })) ?? []
      const [sent = ''] = /([0-9A-Z]{4}-){3}[0-9A-Z]{4}|(\d(, )?){6}/.exec(message?.text ?? '') ?? []
      const code = type === '' ? appCode(body.secret) : sent.replaceAll(', ', '')
      const verify = (written: string, typed: string) =>
        postRaw('/v1/mfa/verify', form, `User=${written}&Type=${verifiedAs}&Code=${typed}`)
      expect((await verify(user.replace('+', '%20'), wrong(code))).status).toBe(401)
      expect((await verify(user, code)).status).toBe(200)
    })
    const others = ['++447700900123', '+', 'a+b', '+447700+900123', '%20%20447700900123', '+447700900123+']
    await everyCase(others, async (user) => {
      const { status, body } = await postRaw('/v1/mfa', form, `User=${user}&Type=SMS`)
      expect([status, body.errors[0].field]).toEqual([400, 'User'])
    })
    const json = JSON.stringify({ User: ' 447700900123', Type: 'SMS' })
    expect(await postRaw('/v1/mfa', 'application/json', json)).toMatchObject({ status: 400 })
  })

  test('sends and verifies by form-style parameters', async () => {
    const { phone } = freshPhone()
    const sent = await post('/v1/mfa', { User: phone, Type: 'SMS' })
    expect(sent.status).toBe(200)
    expect(sent.body).toEqual({
      status: 'sent',
      challenge: expect.any(String),
      type: 'SMS',
      expires_in: 300,
      resend_in: 30,
    })
    const code = await codeFor(phone)
    const refused = await post('/v1/mfa/verify', { User: phone, Type: 'PHONE', Code: wrong(code) })
    expect(refused.status).toBe(401)
    expect(refused.body).toMatchObject({ status: 401, code: 'invalid_code' })
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
    expect(refused.headers.has('www-authenticate')).toBe(false)
    const verified = await post('/v1/mfa/verify', { User: phone, Type: 'PHONE', Code: code })
    expect([verified.status, verified.body]).toEqual([200, { valid: true, type: 'PHONE' }])
  })

  test('accepts JSON too, and DUAL as mailbox and phone number separated by a colon', async () => {
    const user = `${freshEmail().email}:${freshPhone().phone}`
    const sent = await postRaw('/v1/mfa', 'application/json', JSON.stringify({ User: user, Type: 'DUAL' }))
    expect(sent.body).toMatchObject({ status: 'sent', type: 'DUAL' })
    const code = await codeFor(user.split(':')[0] ?? '')
    expect(await codeFor(user.split(':')[1] ?? '')).toBe(code)
    expect((await post('/v1/mfa/verify', { User: user, Type: 'DUAL', Code: code })).status).toBe(200)
  })

  test('sets up an app that its first valid code confirms, without naming a kind', async () => {
    const { email } = freshEmail()
    const { body, status } = await post('/v1/mfa/app', { User: email })
    expect(status).toBe(200)
    expect(Buffer.from(body.qr, 'base64').subarray(1, 4).toString()).toBe('PNG')
    const verify = (code: string) => post('/v1/mfa/verify', { User: email, Type: 'APP', Code: code })
    expect((await verify(appCode(body.secret, Date.now() - 30_000))).status).toBe(200)
    const code = appCode(body.secret)
    expect((await verify(code)).status).toBe(200)
    expect((await verify(code)).status).toBe(401)
  })

  test('sends backup codes, and accepts one in place of a delivered code', async () => {
    const { email } = freshEmail()
    const made = await post('/v1/mfa/backup', { User: email, Type: 'EMAIL' })
    expect([made.status, made.body]).toEqual([200, { status: 'sent', count: 10 }])
    const [message] = (await service.inbox?.messages({ to: email })) ?? []
    const code = /([0-9A-Z]{4}-){3}[0-9A-Z]{4}/.exec(message?.text ?? '')?.[0] ?? ''
    expect((await post('/v1/mfa/verify', { User: email, Type: 'EMAIL', Code: code })).status).toBe(200)
    expect((await post('/v1/mfa/verify', { User: email, Type: 'EMAIL', Code: code })).status).toBe(401)
  })

  test('accepts a backup code only as the kind that the request names (R91)', async () => {
    const { email } = freshEmail()
    await post('/v1/mfa/backup', { User: email, Type: 'EMAIL' })
    const [message] = (await service.inbox?.messages({ to: email })) ?? []
    const Code = /([0-9A-Z]{4}-){3}[0-9A-Z]{4}/.exec(message?.text ?? '')?.[0] ?? ''
    expect((await post('/v1/mfa/verify', { User: email, Type: 'EMAIL', Code, Kind: 'CODE' })).status).toBe(
      401,
    )
    expect((await post('/v1/mfa/verify', { User: email, Type: 'EMAIL', Code, Kind: 'BACKUP' })).status).toBe(
      200,
    )
  })

  test('ends an SMS with the line that browsers read', async () => {
    const { phone } = freshPhone()
    await post('/v1/mfa', { User: phone, Type: 'SMS' })
    const [message] = (await service.inbox?.messages({ to: phone })) ?? []
    expect(message?.text).toMatch(/\n\n@vault\.example #\d{6}$/)
  })

  test('gives wrong, used, unknown and exhausted codes the same response (R33)', async () => {
    const { phone } = freshPhone()
    await post('/v1/mfa', { User: phone, Type: 'SMS' })
    const code = await codeFor(phone)
    const verify = (User: string, Code: string) => post('/v1/mfa/verify', { User, Type: 'PHONE', Code })
    const answers = [await verify(phone, wrong(code)), await verify(freshPhone().phone, '123456')]
    await verify(phone, code)
    answers.push(await verify(phone, code))
    const other = freshPhone().phone
    await post('/v1/mfa', { User: other, Type: 'SMS' })
    const exhausted = await codeFor(other)
    for (let guess = 0; guess < 5; guess++) await verify(other, wrong(exhausted))
    answers.push(await verify(other, exhausted))
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([401, answers[0]?.body])
  })

  test('says when to try again if the account is locked (R27)', async () => {
    const { email } = freshEmail()
    for (let i = 0; i < 10; i++) await post('/v1/mfa/verify', { User: email, Type: 'APP', Code: '123456' })
    const locked = await post('/v1/mfa/verify', { User: email, Type: 'APP', Code: '123456' })
    expect([locked.status, locked.body.code]).toEqual([429, 'locked'])
    const seconds = Number(locked.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(1_790)
    expect(locked.body.retry_after).toBe(seconds)
  })

  test('says when to try again after too many messages', async () => {
    const { email } = freshEmail()
    for (let i = 0; i < 5; i++) await post('/v1/mfa', { User: email, Type: 'EMAIL' })
    const limited = await post('/v1/mfa', { User: email, Type: 'EMAIL' })
    expect([limited.status, limited.body.code]).toEqual([429, 'limited'])
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(590)
  })

  test('lists the inbox for callers with the API key', async () => {
    const { phone } = freshPhone()
    await post('/v1/mfa', { User: phone, Type: 'SMS' })
    for (const to of [encodeURIComponent(phone), phone]) {
      const response = await fetch(`${server.url}/v1/test/inbox?to=${to}`, { headers: bearer })
      const { messages } = (await response.json()) as { messages: { to: string }[] }
      expect(messages.map((message) => message.to)).toEqual([phone])
    }
    expect((await fetch(`${server.url}/v1/test/inbox`)).status).toBe(401)
  })
})

describe('the API key', () => {
  test('is refused when it is missing, wrong or sent in another way (R85)', () =>
    everyCase(
      [
        ['is missing', undefined],
        ['is wrong', 'Bearer another_key_for_tests_01'],
        ['is sent by another scheme', `Basic ${API_KEY}`],
        ['is followed by something', `Bearer ${API_KEY} x`],
        ['is empty', 'Bearer '],
      ],
      async ([_how, authorization]) => {
        const response = await fetch(`${server.url}/v1/mfa`, {
          method: 'POST',
          headers: authorization ? { authorization } : {},
          body: new URLSearchParams({ User: 'a@example.com', Type: 'EMAIL' }),
        })
        expect(response.status).toBe(401)
        expect(response.headers.get('www-authenticate')).toBe('Bearer')
        expect(await response.json()).toMatchObject({ code: 'invalid_api_key' })
      },
    ))

  test('is not read from the address or the body', async () => {
    const response = await fetch(`${server.url}/v1/mfa?api_key=${API_KEY}&access_token=${API_KEY}`, {
      method: 'POST',
      body: new URLSearchParams({ User: 'a@example.com', Type: 'EMAIL', access_token: API_KEY }),
    })
    expect(response.status).toBe(401)
  })
})

const ROUTES: readonly [string, Record<string, string>][] = [
  [
    '/v1/mfa',
    {
      User: 'a@example.com',
      Type: 'EMAIL',
      Purpose: 'sign-in',
      Challenge: 'c',
      Account: 'a',
      ClientAddress: '192.0.2.1',
      Locale: 'en',
    },
  ],
  [
    '/v1/mfa/verify',
    {
      User: 'a@example.com',
      Type: 'EMAIL',
      Code: '123456',
      Kind: 'CODE',
      Challenge: 'c',
      Account: 'a',
      ClientAddress: '192.0.2.1',
      Locale: 'en',
    },
  ],
  ['/v1/mfa/app', { User: 'a@example.com', Account: 'a', ClientAddress: '192.0.2.1', Locale: 'en' }],
  [
    '/v1/mfa/backup',
    { User: 'a@example.com', Type: 'EMAIL', Account: 'a', ClientAddress: '192.0.2.1', Locale: 'en' },
  ],
]

const FIELDS = ROUTES.flatMap(([path, good]) => Object.keys(good).map((field) => ({ path, good, field })))

describe('an invalid parameter is named, and nothing is stored (R81, R82, R83)', () => {
  const bad: readonly [string, unknown][] = [
    ['a number', 5],
    ['a list', ['a@example.com', 'b@example.com']],
    ['an object', { $ne: null }],
    ['true', true],
    ['null', null],
    ['empty text', ''],
    ['a NUL', 'a\u0000'],
    ['a line break', 'a\r\nBcc: b@example.com'],
    ['a lone surrogate', 'a\ud800'],
    ['too long a text', 'x'.repeat(1_000)],
  ]
  test('names each field that is wrong', () =>
    everyCase(FIELDS, async ({ path, good, field }) => {
      for (const [what, value] of bad) {
        const answer = await postRaw(path, 'application/json', JSON.stringify({ ...good, [field]: value }))
        expect([what, answer.status, answer.body.code]).toEqual([what, 400, 'invalid_request'])
        expect(answer.body.errors).toContainEqual({ field, detail: expect.any(String) })
        expect(JSON.stringify(answer.body)).not.toContain('Bcc')
      }
      expect(await service.inbox?.messages({ to: 'a@example.com' })).toEqual([])
    }))

  test('names a required parameter that is missing', () =>
    everyCase(ROUTES, async ([path, good]) => {
      for (const field of ['User', 'Type', 'Code'].filter((name) => name in good)) {
        const { [field]: _left, ...rest } = good
        const answer = await post(path, rest)
        expect(answer.body).toMatchObject({ code: 'invalid_request', errors: [{ field }] })
      }
      expect((await postRaw(path, undefined, undefined)).status).toBe(400)
    }))

  test('refuses a Type that does not fit its User', () =>
    everyCase(
      [
        ['SMS', 'a@example.com'],
        ['EMAIL', '+447700900123'],
        ['DUAL', 'a@example.com'],
        ['DUAL', 'a@example.com:b@example.com:+447700900123'],
        ['SMS', '+44 7700 900123'],
        ['SMS', '07700900123'],
        ['EMAIL', 'a@example.com,b@example.com'],
        ['EMAIL', '"a b"@example.com'],
        ['EMAIL', 'a@example.com '],
      ],
      async ([Type, User]) => {
        const answer = await post('/v1/mfa', { User, Type })
        expect([answer.status, answer.body.errors?.[0]?.field]).toEqual([400, 'User'])
      },
    ))

  test('a parameter given twice', async () => {
    const answer = await postRaw(
      '/v1/mfa',
      'application/x-www-form-urlencoded',
      'User=a%40example.com&User=b%40example.com&Type=EMAIL',
    )
    expect(answer.body).toMatchObject({ code: 'invalid_request', errors: [{ field: 'User' }] })
  })

  test('prototype keys have no effect', async () => {
    const body = '{"__proto__":{"User":"a@example.com"},"constructor":{"prototype":{"Type":"EMAIL"}}}'
    const answer = await postRaw('/v1/mfa', 'application/json', body)
    expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual(['User', 'Type'])
  })
})

describe('an invalid request', () => {
  test('is refused for its size, type or syntax', () =>
    everyCase(ROUTES, async ([path, good]) => {
      const json = 'application/json'
      const large = await postRaw(path, json, JSON.stringify({ ...good, Pad: 'x'.repeat(4_096) }))
      expect([large.status, large.body.code]).toEqual([413, 'body_too_large'])
      for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/xml']) {
        const other = await postRaw(path, type, 'x')
        expect([other.status, other.body.code]).toEqual([415, 'unsupported_media_type'])
      }
      const packed = await postRaw(path, json, new Uint8Array([0x1f, 0x8b]), { 'content-encoding': 'gzip' })
      expect(packed.status).toBe(415)
      const charset = await postRaw(path, 'application/json; charset=iso-8859-1', '{}')
      expect(charset.status).toBe(415)
      for (const text of ['{', '"text"', '[]', 'null', '{"User":']) {
        const answer = await postRaw(path, json, text)
        expect([text, answer.status, answer.body.code]).toEqual([text, 400, 'invalid_request'])
      }
      const many = await postRaw(path, 'application/x-www-form-urlencoded', 'a=1&'.repeat(200))
      expect(many.status).toBeGreaterThanOrEqual(400)
      expect(many.status).toBeLessThan(500)
    }))

  test('is refused with the list of allowed methods', () =>
    everyCase(ROUTES, async ([path]) => {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const response = await fetch(server.url + path, { method, headers: bearer })
        expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST'])
        expect(await response.json()).toMatchObject({ code: 'method_not_allowed' })
      }
    }))

  test('gets a problem at every path', async () => {
    for (const path of [
      '/',
      '/v1',
      '/v1/mfa/',
      '/v1/mfa/other',
      '/%E0%A4%A',
      '/__proto__',
      '/v1/transcribe',
    ]) {
      const response = await fetch(server.url + path, { headers: bearer })
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(response.status).toBeLessThan(500)
      expect(response.headers.get('content-type')).toContain('application/problem+json')
    }
  })

  test('does not crash the service when it is interrupted', async () => {
    const port = Number(new URL(server.url).port)
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST /v1/mfa HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"User":`,
          () => {
            socket.destroy()
            resolve()
          },
        )
      })
    })
    const response = await fetch(`${server.url}/healthz`)
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
    expect(response.headers.has('x-powered-by')).toBe(false)
  })
})

describe('the data of users', () => {
  test('is listed, exported and erased over HTTP, by Account or by User (R104)', async () => {
    const { email } = freshEmail()
    await post('/v1/mfa', { User: email, Type: 'EMAIL', Account: 'user 104' })
    await post('/v1/mfa', { User: email, Type: 'EMAIL' })
    const code = await codeFor(email)
    const list = async (query: string) => {
      const response = await fetch(`${server.url}/v1/users?${query}`, { headers: bearer })
      return { status: response.status, body: await response.json() }
    }
    const first = await list('limit=1')
    expect(first.body).toEqual({
      users: [expect.objectContaining({ account: 'user 104', user: null, app: false, locked_until: null })],
      next: expect.any(String),
    })
    const rest = await list(`after=${encodeURIComponent(first.body.next)}`)
    expect(rest.body.users.map(({ account }: { account: unknown }) => account)).not.toContain('user 104')
    expect(JSON.stringify(rest.body)).not.toContain(email)
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'after=x', 'after=a&after=b']) {
      expect([query, (await list(query)).body.code]).toEqual([query, 'invalid_request'])
    }

    const exported = await post('/v1/users/export', { Account: 'user 104' })
    expect([exported.status, exported.body]).toMatchObject([
      200,
      { account: 'user 104', challenges: [{ contact: email }], messages: [{ channel: 'email' }] },
    ])
    const { reference } = exported.body
    const erased = await post('/v1/users/erase', { Account: 'user 104' })
    expect([erased.status, erased.body]).toEqual([200, { erased: true, reference }])
    expect((await post('/v1/users/erase', { Account: 'user 104' })).body).toEqual({
      erased: false,
      reference,
    })
    expect((await post('/v1/users/export', { Account: 'user 104' })).body.code).toBe('not_found')
    expect((await post('/v1/mfa/verify', { User: email, Type: 'EMAIL', Code: code })).status).toBe(200)
    expect((await post('/v1/users/erase', { User: email.toUpperCase() })).body.erased).toBe(true)
    expect(await service.inbox?.messages({ to: email })).toEqual([])

    for (const [body, field] of [
      [{}, 'Account'],
      [{ User: 'zoe' }, 'User'],
      [{ Account: '' }, 'Account'],
    ] as const) {
      const refused = await post('/v1/users/erase', body)
      expect([refused.status, refused.body.errors[0].field]).toEqual([400, field])
    }
    expect((await fetch(`${server.url}/v1/users`)).status).toBe(401)
    const audit = await service.operator('ann').listAudit({ application: 'default', limit: 3 })
    expect(audit.map(({ actor, action }) => [actor, action])).toEqual([
      ['SERVICE_API_KEY', 'user.erased'],
      ['SERVICE_API_KEY', 'user.erased'],
      ['SERVICE_API_KEY', 'user.exported'],
    ])
  })
})
