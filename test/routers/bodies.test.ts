import express from 'express'
import { describe, expect, it } from 'vitest'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { type Host, type HostSetup, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { type Answer, begin, listen } from '../kit/sockets.js'

/** Every route that reads a body, and a field that it needs. */
const routes = [
  { path: '/mfa/challenge', field: 'factor' },
  { path: '/mfa/verify', field: 'code' },
  { path: '/mfa/verify', field: 'factor' },
  { path: '/mfa/enroll-app/confirm', field: 'code' },
  { path: '/mfa-login', field: 'code' },
] as const

const notStrings: unknown[] = [
  123456,
  0,
  -1,
  1.5,
  true,
  false,
  null,
  [],
  ['123456'],
  ['123456', '654321'],
  [['123456']],
  {},
  { $ne: null },
  { $gt: '' },
  { toString: 'x' },
  { length: 6 },
  { '0': '1' },
  { __proto__: { admin: true } },
  { constructor: { prototype: { admin: true } } },
]

const setup: HostSetup = {
  routes: (app, _mfa, auth) => {
    app.post('/mfa-login', auth.authenticate('mfa'), (_req, res) => void res.json({ done: true }))
  },
}

/** The status of an invalid body. Passport's answer has no content, so there it is a failed authentication. */
const invalidAt = (path: string) => (path === '/mfa-login' ? 401 : 400)

/** A host that parses bodies itself before everything else, with high limits. */
const parsing: HostSetup = {
  ...setup,
  first: (app) =>
    void app.use(
      express.json({ limit: '1mb', strict: false }),
      express.urlencoded({ extended: true, limit: '1mb' }),
    ),
}

async function ready(made: Host) {
  const agent = await signInFully(made, 'alice')
  await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
  await agent.post('/mfa/enroll-app').send({}).expect(200)
  await challenge(agent, 'email').expect(200)
  return agent
}

describe.each([
  ['our parser', setup],
  ['the host’s parser', parsing],
])('a value that is not a string, read by %s (R81)', (_whose, setup) => {
  it('is refused without a call to the service', () =>
    everyCase(routes, async ({ path, field }) => {
      const made = host(setup)
      const agent = await ready(made)
      const calls = made.standIn.calls.length
      for (const value of notStrings) {
        const body = { code: '123456', factor: 'email', [field]: value }
        const answer = await agent.post(path).send(body)
        expect(answer.status, JSON.stringify(value)).toBe(invalidAt(path))
      }
      for (const text of [
        `{"${field}":{"__proto__":"x"}}`,
        '{"__proto__":{"code":"123456","factor":"email"}}',
        '{"constructor":{"prototype":{"code":"123456"}}}',
      ]) {
        const answer = await agent.post(path).type('application/json').send(text)
        // The code alone may be missing a factor.
        expect(answer.status, text).toBe(invalidAt(path))
      }
      for (const text of [
        `${field}=1&${field}=2`,
        `${field}[]=1`,
        `${field}[a]=1`,
        `${field}[__proto__]=1`,
        '',
      ]) {
        const rest = field === 'factor' && path === '/mfa/verify' ? '&code=123456' : ''
        const answer = await agent.post(path).type('form').send(`${text}${rest}`)
        if (answer.status === 400) continue
        // An extended name like code[] is simply another field for a parser that does not extend.
        expect([400, 401, 409]).toContain(answer.status)
      }
      expect(Object.prototype).not.toHaveProperty('admin')
      const after = made.standIn.calls.length - calls
      expect(after).toBeLessThanOrEqual(field === 'factor' && path === '/mfa/verify' ? 4 : 0)
    }))

  it('is reported by its field, and not repeated', async () => {
    const made = host(setup)
    const agent = await ready(made)
    const answer = await agent
      .post('/mfa/verify')
      .send({ code: ['secret-code'], factor: { a: 'secret-factor' } })
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(answer.body).toMatchObject({
      code: 'invalid_request',
      errors: [
        { field: 'code', detail: 'must be a single string' },
        { field: 'factor', detail: 'must be a single string' },
      ],
    })
    expect(answer.text).not.toContain('secret')
  })
})

describe('the size limit (R82)', () => {
  it('refuses a field that is empty or over 64 characters', () =>
    everyCase(routes, async ({ path, field }) => {
      const made = host(setup)
      const agent = await ready(made)
      const calls = made.standIn.calls.length
      for (const length of [65, 1_000, 3_900]) {
        const body = { code: '123456', factor: 'email', [field]: '1'.repeat(length) }
        expect((await agent.post(path).send(body)).status).toBe(invalidAt(path))
      }
      const empty = await agent.post(path).send({ code: '', factor: '', [field]: '' })
      expect(empty.status).toBe(invalidAt(path))
      expect(made.standIn.calls).toHaveLength(calls)
    }))

  it('lets a code of 64 characters be checked', async () => {
    const made = host(setup)
    const agent = await ready(made)
    expect((await verify(agent, '1'.repeat(64))).body.code).toBe('invalid_code')
  })

  it('applies to every content type: a body over 4 KB leads to a 413 on every route', () =>
    everyCase(
      [
        ['our parser', setup],
        ['the host’s parser', parsing],
      ],
      async ([_whose, setup]) => {
        const made = host(setup)
        const agent = await ready(made)
        const calls = made.standIn.calls.length
        for (const path of [
          '/mfa/challenge',
          '/mfa/verify',
          '/mfa/enroll-app',
          '/mfa/enroll-app/confirm',
          '/mfa/backup',
          '/mfa-login',
        ]) {
          for (const size of [5_000, 100_000, 900_000]) {
            const answer = await agent
              .post(path)
              .send({ code: '123456', factor: 'email', pad: 'x'.repeat(size) })
            expect(answer.status, `${path} ${size}`).toBe(413)
          }
        }
        expect(made.standIn.calls).toHaveLength(calls)
      },
    ))

  it('applies when the body has no Content-Length', () =>
    everyCase(
      [
        ['our parser', setup],
        ['the host’s parser', parsing],
      ],
      async ([_whose, setup]) => {
        const made = host(setup)
        const { cookie, port } = await socketReady(made)
        const huge = await chunked(
          port,
          '/mfa/verify',
          cookie,
          `{"code":"123456","pad":"${'x'.repeat(200_000)}"}`,
        )
        expect(huge.status).toBe(413)
        const deep = await chunked(
          port,
          '/mfa/verify',
          cookie,
          `{"code":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
        )
        expect([400, 413]).toContain(deep.status)
        expect(made.standIn.count('verify')).toBe(0)
      },
    ))
})

async function socketReady(made: Host) {
  const signedIn = await login(jsonAgent(made.app), 'bob').expect(200)
  return { cookie: sessionCookie(signedIn), port: await listen(made.app) }
}

function chunked(port: number, path: string, cookie: string, text: string, headers = {}): Promise<Answer> {
  return begin(port, {
    path,
    headers: {
      Cookie: cookie,
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
      ...headers,
    },
  }).finish(text)
}

describe('a malformed body (R83)', () => {
  const broken: [string, string, number[]][] = [
    ['application/json', '{"code":', [400]],
    ['application/json', '', [400]],
    ['application/json', 'null', [400]],
    ['application/json', '"123456"', [400]],
    ['application/json', '[{"code":"123456"}]', [400]],
    ['application/json', '\u0000', [400]],
    ['application/json; charset=utf-7', '{"code":"123456"}', [400, 409, 415]],
    ['application/json; charset=utf-16', '{"code":"123456"}', [400, 415]],
    ['application/json;;;', '{"code":"123456"}', [400, 409, 415]],
    ['application/x-www-form-urlencoded; charset=nonsense', 'code=123456', [415]],
    ['application/x-www-form-urlencoded', '%', [400]],
    ['application/x-www-form-urlencoded', `${'a=1&'.repeat(30)}code=123456`, [400, 413]],
    ['text/plain', 'code=123456', [415]],
    ['text/html', '<b>123456</b>', [415]],
    ['application/xml', '<code>123456</code>', [415]],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="code"\r\n\r\n123456\r\n--x--',
      [415],
    ],
    ['nonsense', '123456', [415]],
  ]

  it('of a wrong type leads to a 4xx without a call to the service', () =>
    everyCase(broken, async ([type, text, statuses]) => {
      const made = host(setup)
      const { cookie, port } = await socketReady(made)
      for (const path of ['/mfa/challenge', '/mfa/verify']) {
        const answer = await chunked(port, path, cookie, text, { 'Content-Type': type })
        expect(statuses, answer.text).toContain(answer.status)
        expect(answer.headers['content-type']).toContain('application/problem+json')
        expect(answer.text).not.toContain('123456')
      }
      expect(made.standIn.calls).toHaveLength(0)
    }))

  it('is refused when it is not compressed as its header says', () =>
    everyCase(['gzip', 'br', 'deflate', 'nonsense'], async (encoding) => {
      const made = host(setup)
      const { cookie, port } = await socketReady(made)
      const answer = await chunked(port, '/mfa/verify', cookie, '{"code":"123456"}', {
        'Content-Encoding': encoding,
      })
      expect([400, 413, 415]).toContain(answer.status)
      expect(made.standIn.calls).toHaveLength(0)
    }))

  it('is refused after the host has parsed it to anything but text', () =>
    everyCase<[string, express.RequestHandler]>(
      [
        ['a string', express.text({ type: () => true })],
        ['bytes', express.raw({ type: () => true })],
        [
          'null',
          (req, _res, next) => {
            Object.assign(req, { body: null, _body: true })
            req.resume()
            req.on('end', next)
          },
        ],
        [
          'an object that JSON cannot express',
          (req, _res, next) => {
            const body: Record<string, unknown> = { code: '123456', big: 1n }
            body.self = body
            Object.assign(req, { body, _body: true })
            req.resume()
            req.on('end', next)
          },
        ],
      ],
      async ([_what, parser]) => {
        const made = host({ ...setup, behindGate: (app) => void app.use('/mfa', parser) })
        const { cookie, port } = await socketReady(made)
        const answer = await chunked(port, '/mfa/verify', cookie, '{"code":"123456"}')
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.status).toBeLessThan(500)
        expect(made.standIn.calls).toHaveLength(0)
      },
    ))

  it('that breaks off does not end the process', async () => {
    const made = host(setup)
    const { cookie, port } = await socketReady(made)
    for (let time = 0; time < 5; time++) {
      const partial = begin(port, {
        path: '/mfa/verify',
        headers: { Cookie: cookie, 'Content-Type': 'application/json', 'Content-Length': '100' },
      })
      partial.write('{"code":')
      await new Promise((resolve) => setImmediate(resolve))
      partial.abort()
      await partial.answer.catch(() => {})
    }
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms').expect(200)
  })
})

describe('a malformed request line or header (R83)', () => {
  it('causes no error in any header', () =>
    everyCase<[string, Record<string, string>]>(
      [
        ['/mfa/verify?factor=sms&factor=email', {}],
        ['/mfa/verify?factor[a]=1', {}],
        ['/mfa/verify?factor=__proto__', {}],
        ['/mfa/verify?factor=%00', {}],
        ['/mfa/verify?factor=%E0%A4%A', {}],
        ['/mfa?choose[]=1', {}],
        ['/mfa', { Accept: ';;;' }],
        ['/mfa', { Accept: `${'a/b,'.repeat(500)}text/html` }],
        ['/mfa', { 'Accept-Language': 'x_y_z;q=foo,,;;,*-*,zz-ZZ-zzzzzzzzzzzzzzz' }],
        ['/mfa', { 'Accept-Language': '__proto__,constructor,toString' }],
        ['/secret', { Referer: '::::', Origin: '::::' }],
        ['/secret', { Host: '' }],
        ['/mfa', { Cookie: 'connect.sid=s%3A__proto__.x; connect.sid=%' }],
      ],
      async ([path, headers]) => {
        const made = host(setup)
        const { cookie, port } = await socketReady(made)
        for (const accept of ['application/json', 'text/html']) {
          const answer = await begin(port, {
            method: 'GET',
            path,
            headers: { Cookie: cookie, Accept: accept, ...headers },
          }).finish()
          expect(answer.status).toBeLessThan(500)
        }
        expect(made.failures).toEqual([])
      },
    ))
})
