import { type Express as App, Router } from 'express'
import { describe, expect, it, vi } from 'vitest'
import { expectNoMfaBypass, findMfaBypasses } from '../../src/testing/index.js'
import { type HostSetup, host } from '../kit/host.js'
import { findsBypasses } from './bypass-apps.js'

const logins = { name: { fields: { name: 'bob' } } }
const probe = (setup: HostSetup, more = {}) => findMfaBypasses({ app: host(setup).app, logins, ...more })

findsBypasses('Express 5')

describe('expectNoMfaBypass', () => {
  it('throws an error that lists every bypass and says how to fix it', async () => {
    const { app } = host({
      beforeGate: (made) => void made.get('/early', (_req, res) => void res.json({})),
    })
    await expect(expectNoMfaBypass({ app, logins })).rejects.toThrow(
      /as signed in:\n- name: GET \/early: the request has a user when the route responds\nMount mfa\.session directly after/,
    )
  })

  it('returns the routes that were not probed', async () => {
    const skipped = await expectNoMfaBypass({ app: host().app, logins })
    expect(skipped.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /login',
      'POST /logout',
      'POST /transfer',
    ])
    expect(await expectNoMfaBypass({ app: host().app, logins, methods: ['get', 'post'] })).toEqual([])
  })
})

describe('a route that handles every method', () => {
  const legacy = (made: App) =>
    void made.all('/legacy', (req, res) => void res.status(req.method === 'POST' ? 200 : 405).json({}))
  const keysOf = (found: readonly { method: string; route: string }[]) =>
    found.map(({ method, route }) => `${method} ${route}`)

  it('is probed with GET and POST, while routes for other methods are skipped (R01)', async () => {
    const { bypasses, probed, skipped } = await probe({ beforeGate: legacy })
    expect(keysOf(bypasses)).toEqual(['GET /legacy', 'POST /legacy'])
    expect(probed).toContainEqual({ method: 'POST', path: '/legacy' })
    expect(skipped.map(({ path }) => path)).toEqual(['/login', '/logout', '/transfer'])
  })

  it('is probed with the methods in `methods` when they are given', async () => {
    const all = await probe({ beforeGate: legacy }, { methods: ['put', 'DELETE'] })
    expect(keysOf(all.bypasses)).toEqual(['PUT /legacy', 'DELETE /legacy'])
    expect(keysOf((await probe({ beforeGate: legacy }, { methods: ['GET'] })).bypasses)).toEqual([
      'GET /legacy',
    ])
  })

  it('is not probed with a method that has a route of its own', async () => {
    let posted = 0
    await probe({
      beforeGate: (made) => {
        made.post('/legacy', (_req, res) => void res.json({ posted: ++posted }))
        legacy(made)
      },
    })
    expect(posted).toBe(0)
  })
})

it.each([findMfaBypasses, expectNoMfaBypass])('%o refuses to run in production', async (probing) => {
  vi.stubEnv('NODE_ENV', 'production')
  await expect(probing({ app: () => {}, logins })).rejects.toThrow(
    'findMfaBypasses is for tests and does not run with NODE_ENV=production.',
  )
  vi.unstubAllEnvs()
})

it('throws when Express does not store the paths of its routers, instead of skipping them', async () => {
  const { app } = host({ beforeGate: (made) => void made.use('/nested', Router()) })
  const { stack } = app.router as object as { stack: { rawPath?: string }[] }
  for (const layer of stack) if (layer.rawPath === '/nested') delete layer.rawPath
  await expect(expectNoMfaBypass({ app, logins })).rejects.toThrow('Update its dependency `router` to 2.3')
})

it('throws when the app has no routes', async () => {
  await expect(expectNoMfaBypass({ app: () => {}, logins })).rejects.toThrow('No routes were found.')
})

describe('a login', () => {
  it('is a bypass when it leaves no pending login, so that a probe never passes for lack of a session', async () => {
    const { bypasses } = await probe({}, { logins: { nina: { fields: { name: 'nina' } } } })
    expect(bypasses.map(({ method, route, reason }) => `${method} ${route}: ${reason}`)).toEqual([
      'POST /login: the request has a user when the login route responds',
      'GET /mfa: the MFA status after this login is "none" instead of "pending"',
    ])
  })

  it('throws when the app refuses it', async () => {
    await expect(probe({}, { logins: { name: { fields: { name: 'eve' } } } })).rejects.toThrow(
      'The login "name" failed: POST /login responded with 401.',
    )
  })

  it('can be a function, and each login is probed separately', async () => {
    const routes: HostSetup['beforeGate'] = (app) => void app.get('/early', (_req, res) => void res.json({}))
    const { bypasses } = await probe(
      { beforeGate: routes },
      {
        logins: {
          ...logins,
          form: async (agent: (path: string, init: object) => Promise<Response>) => {
            const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
            await agent('/login', { method: 'POST', headers, body: 'name=dora' })
          },
        },
      },
    )
    expect(bypasses.map(({ login }) => login)).toEqual(['name', 'form'])
  })
})

describe('a page', () => {
  const page = (contentFor: (pending: boolean) => object): HostSetup => ({
    options: { login: { pendingPaths: ['/page'] } },
    routes: (app) =>
      void app.get('/page', (req, res) => void res.json(contentFor(req.mfa?.status === 'pending'))),
  })

  it('is a bypass when it shows a pending login other content, unless it is in `pendingPaths`', async () => {
    const greeting = page((pending) => ({ greeting: pending ? 'One more step' : 'Welcome' }))
    expect((await probe(greeting)).bypasses).toEqual([
      {
        login: 'name',
        method: 'GET',
        route: '/page',
        reason:
          'a pending login gets other content than an anonymous request: "One more step"}" instead of "Welcome"}"',
      },
    ])
    expect((await probe(greeting, { pendingPaths: ['/page'] })).bypasses).toEqual([])
  })

  it('is no bypass when its content changes with every request', async () => {
    let requests = 0
    expect((await probe(page(() => ({ request: ++requests })))).bypasses).toEqual([])
  })

  it('is a bypass when it streams without end to a pending login', async () => {
    const { bypasses } = await probe({
      beforeGate: (app) => void app.get('/events', (_req, res) => void res.write('data: 1\n\n')),
    })
    expect(bypasses.map(({ route }) => route)).toEqual(['/events'])
  })

  it('is listed as skipped when it never responds', async () => {
    const { skipped } = await probe({
      routes: (app) => void app.use('/stuck', () => {}),
      options: { login: { pendingPaths: ['/stuck'] } },
    })
    expect(skipped).toContainEqual({ method: 'GET', path: '/stuck', reason: 'it did not respond' })
  })
})

it('signs in again when a route ends the pending login', async () => {
  const { bypasses } = await probe({
    behindGate: (app) => {
      app.get('/login/bye', (req, res, next) => req.logout((error) => (error ? next(error) : res.json({}))))
      const back = Router()
      back.get(
        '/back',
        (req, res) => void res.json({ id: (req.session as { passport?: object }).passport ?? null }),
      )
      app.use('/login', back)
    },
  })
  expect(bypasses.map(({ route }) => route)).toEqual(['/login/back'])
})
