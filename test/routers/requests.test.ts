import type { Response } from 'supertest'
import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

const posts = [
  '/challenge',
  '/verify',
  '/cancel',
  '/enroll-app',
  '/enroll-app/confirm',
  '/enroll-app/remove',
  '/backup',
  '/backup/remove',
] as const
const gets = [
  '/',
  '/verify',
  '/enroll-app',
  '/enroll-app/confirm',
  '/enroll-app/remove',
  '/backup',
  '/backup/remove',
] as const

const ALLOW: Record<string, string> = {
  '/': 'GET, HEAD',
  '/challenge': 'POST',
  '/cancel': 'POST',
  '/verify': 'GET, HEAD, POST',
  '/enroll-app': 'GET, HEAD, POST',
  '/enroll-app/confirm': 'GET, HEAD, POST',
  '/enroll-app/remove': 'GET, HEAD, POST',
  '/backup': 'GET, HEAD, POST',
  '/backup/remove': 'GET, HEAD, POST',
}

function expectHeaders({ headers }: Pick<Response, 'headers'>) {
  expect(headers['cache-control']).toBe('no-store')
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers['referrer-policy']).toBe('same-origin')
}

describe('a route (R14)', () => {
  it('sends nothing again when the page after its form is reloaded', async () => {
    const { app, standIn } = host()
    const browser = browserAgent(app)
    await login(browser, 'bob').type('form')
    const sends = async (path: string, body: object, says: string) => {
      const before = standIn.calls.length
      const { headers } = await browser.post(path).type('form').send(body).expect(303)
      for (let load = 0; load < 3; load++) {
        expect((await browser.get(headers.location ?? '').expect(200)).text).toContain(says)
      }
      expect(standIn.calls).toHaveLength(before + 1)
    }
    await sends('/mfa/challenge', { factor: 'sms' }, 'We texted a verification code to')
    await verify(browser, standIn.newestCode()).type('form').expect(303)
    await sends('/mfa/backup', {}, 'There are 2 codes. Each works once.')
  })

  it.each(Object.entries(ALLOW))(
    '%s accepts %s, and responds to every other method with a 405 that lists them',
    async (path, allow) => {
      const made = host()
      for (const agent of [jsonAgent(made.app), await signIn(made.app, 'bob')]) {
        for (const method of ['put', 'patch', 'delete', 'options', 'get', 'post'] as const) {
          const answer = await agent[method](`/mfa${path}`)
          if (allow.includes(method.toUpperCase())) {
            expect(answer.status).not.toBe(405)
          } else {
            expect(answer.status).toBe(405)
            expect(answer.headers.allow).toBe(allow)
            expect(answer.body.code).toBe('method_not_allowed')
            expectHeaders(answer)
          }
        }
      }
      expect(made.standIn.calls).toHaveLength(0)
    },
  )
})

describe('the security headers (R12)', () => {
  it('are on every response of a route, for every user, as page or JSON', async () => {
    const made = host()
    const agents = [
      jsonAgent(made.app),
      browserAgent(made.app),
      await signIn(made.app, 'bob'),
      (await signIn(made.app, 'bob')).set('Accept', 'text/html'),
      await signInFully(made, 'alice'),
      await signIn(made.app, 'nina'),
    ]
    for (const agent of agents) {
      for (const path of gets) expectHeaders(await agent.get(`/mfa${path}`))
      for (const path of posts)
        expectHeaders(await agent.post(`/mfa${path}`).send({ code: '000000', factor: 'sms' }))
    }
  })

  it('are on the responses of the gate and of requireMfa', async () => {
    const made = host()
    const pending = await signIn(made.app, 'bob')
    expectHeaders(await pending.get('/secret').expect(401))
    expectHeaders(await pending.get('/secret').set('Accept', 'text/html').expect(303))
    expectHeaders(await jsonAgent(made.app).post('/transfer').expect(401))
    expectHeaders(await jsonAgent(made.app).post('/transfer').set('Accept', 'text/html').expect(303))
  })

  it('are on no response of the host', async () => {
    const made = host()
    const answer = await (await signInFully(made, 'bob')).get('/secret').expect(200)
    expect(answer.headers).not.toHaveProperty('content-security-policy')
  })
})

describe('a request that changes something (R13)', () => {
  const foreign: Record<string, string>[] = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'nonsense' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://bank.example' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: 'http://bank.example.evil.example' },
    { Origin: 'http://bank.example:81' },
    { Origin: 'not an address' },
    { Origin: '', 'Sec-Fetch-Site': '' },
  ]

  it('is refused from another site', () =>
    everyCase(foreign, async (headers) => {
      const made = host({
        routes: (app, _mfa, auth) => {
          app.post('/mfa-login', auth.authenticate('mfa'), (_req, res) => void res.json({ done: true }))
        },
      })
      const agent = await signInFully(made, 'alice')
      const calls = made.standIn.calls.length
      for (const path of [...posts.map((one) => `/mfa${one}`), '/mfa-login']) {
        const answer = await agent
          .post(path)
          .set({ Host: 'bank.example', ...headers })
          .send({ code: '123456', factor: 'sms' })
        expect(answer.status).toBe(403)
      }
      expect(made.standIn.calls).toHaveLength(calls)
    }))

  it('is accepted from the same site', () =>
    everyCase<Record<string, string>>(
      [
        { 'Sec-Fetch-Site': 'same-origin' },
        { 'Sec-Fetch-Site': 'none' },
        { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://elsewhere.example' },
        { Origin: 'https://bank.example' },
        { Origin: 'http://bank.example' },
        {},
      ],
      async (headers) => {
        const made = host()
        const agent = await signIn(made.app, 'bob')
        await challenge(agent, 'sms')
          .set({ Host: 'bank.example', ...headers })
          .expect(200)
      },
    ))

  it('is refused over TLS from a page of the same host without TLS', async () => {
    const made = host({ first: (app) => void app.set('trust proxy', 1) })
    const agent = await signIn(made.app, 'bob')
    const ask = (Origin: string) =>
      challenge(agent, 'sms').set({ Host: 'bank.example', 'X-Forwarded-Proto': 'https', Origin })
    await ask('http://bank.example').expect(403)
    await ask('https://bank.example').expect(200)
  })

  it('is accepted by its Origin behind a trusted proxy that passes the host on', async () => {
    const headers = {
      Host: 'internal:3000',
      'X-Forwarded-Host': 'bank.example',
      Origin: 'https://bank.example',
    }
    const trusting = host({ first: (app) => void app.set('trust proxy', 1) })
    const agent = await signIn(trusting.app, 'bob')
    await challenge(agent, 'sms').set(headers).expect(200)
    const wary = host()
    const other = await signIn(wary.app, 'bob')
    await challenge(other, 'sms').set(headers).expect(403)
  })
})

describe('the routers', () => {
  it('are found wherever the router is mounted', () =>
    everyCase(['/mfa', '/MFA', '/Mfa/', '/mfa/'], async (path) => {
      const made = host()
      const agent = await signInFully(made, 'bob')
      expect((await agent.get(path).expect(200)).body.status).toBe('verified')
    }))
})
