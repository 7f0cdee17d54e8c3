import { type Express as App, Router } from 'express'
import { describe, expect, it, vi } from 'vitest'
import { expectNoMfaBypass, findMfaBypasses } from '../../src/testing/index.js'
import { type HostSetup, host } from '../kit/host.js'
import { findsBypasses } from './bypass-apps.js'

const logins = { name: { fields: { name: 'bob' } } }
const look = (setup: HostSetup, more = {}) => findMfaBypasses({ app: host(setup).app, logins, ...more })

findsBypasses('Express 5')

describe('expectNoMfaBypass', () => {
  it('throws an error that names every open road and what to do', async () => {
    const { app } = host({
      beforeGate: (made) => void made.get('/early', (_req, res) => void res.json({})),
    })
    await expect(expectNoMfaBypass({ app, logins })).rejects.toThrow(
      /first factor is let in:\n- name: GET \/early: its request holds a user when it is answered\nMount mfaSession right behind/,
    )
  })

  it('gives the routes that were not tried', async () => {
    const untried = await expectNoMfaBypass({ app: host().app, logins })
    expect(untried.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /login',
      'POST /logout',
      'POST /transfer',
    ])
    expect(await expectNoMfaBypass({ app: host().app, logins, methods: ['get', 'post'] })).toEqual([])
  })
})

describe('a route that answers any method', () => {
  const legacy = (made: App) =>
    void made.all('/legacy', (req, res) => void res.status(req.method === 'POST' ? 200 : 405).json({}))
  const keysOf = (found: readonly { method: string; route: string }[]) =>
    found.map(({ method, route }) => `${method} ${route}`)

  it('R01 is tried by POST as well, though others that change things are not', async () => {
    const { findings, tried, untried } = await look({ beforeGate: legacy })
    expect(keysOf(findings)).toEqual(['GET /legacy', 'POST /legacy'])
    expect(tried).toContainEqual({ method: 'POST', path: '/legacy' })
    expect(untried.map(({ path }) => path)).toEqual(['/login', '/logout', '/transfer'])
  })

  it('is tried by the methods that are named, if any are', async () => {
    const all = await look({ beforeGate: legacy }, { methods: ['put', 'DELETE'] })
    expect(keysOf(all.findings)).toEqual(['PUT /legacy', 'DELETE /legacy'])
    expect(keysOf((await look({ beforeGate: legacy }, { methods: ['GET'] })).findings)).toEqual([
      'GET /legacy',
    ])
  })

  it('leaves a method to the route that names it', async () => {
    let posted = 0
    await look({
      beforeGate: (made) => {
        made.post('/legacy', (_req, res) => void res.json({ posted: ++posted }))
        legacy(made)
      },
    })
    expect(posted).toBe(0)
  })
})

it.each([findMfaBypasses, expectNoMfaBypass])('%o refuses to run in production', async (walk) => {
  vi.stubEnv('NODE_ENV', 'production')
  await expect(walk({ app: () => {}, logins })).rejects.toThrow(
    'findMfaBypasses is for tests and does not run with NODE_ENV=production.',
  )
  vi.unstubAllEnvs()
})

it('says so when Express does not keep the paths of its routers, rather than pass them over', async () => {
  const { app } = host({ beforeGate: (made) => void made.use('/nested', Router()) })
  const { stack } = app.router as object as { stack: { rawPath?: string }[] }
  for (const layer of stack) if (layer.rawPath === '/nested') delete layer.rawPath
  await expect(expectNoMfaBypass({ app, logins })).rejects.toThrow('bring the package `router`')
})

it('says so when there is no app to walk', async () => {
  await expect(expectNoMfaBypass({ app: () => {}, logins })).rejects.toThrow('There are no routes to walk')
})

describe('a login', () => {
  it('that nobody is halfway after is a finding, so that a walk never passes for want of a session', async () => {
    const { findings } = await look({}, { logins: { nina: { fields: { name: 'nina' } } } })
    expect(findings.map(({ method, route, why }) => `${method} ${route}: ${why}`)).toEqual([
      'POST /login: the login itself holds a user when it is answered',
      'GET /mfa: after this login it tells "none" instead of "pending"',
    ])
  })

  it('that is refused is an error', async () => {
    await expect(look({}, { logins: { name: { fields: { name: 'eve' } } } })).rejects.toThrow(
      'The login "name" was refused: POST /login was answered 401.',
    )
  })

  it('may be a function, and each login is walked by itself', async () => {
    const routes: HostSetup['beforeGate'] = (app) => void app.get('/early', (_req, res) => void res.json({}))
    const { findings } = await look(
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
    expect(findings.map(({ road }) => road)).toEqual(['name', 'form'])
  })
})

describe('a page', () => {
  const page = (tell: (pending: boolean) => object): HostSetup => ({
    options: { open: ['/page'] },
    routes: (app) => void app.get('/page', (req, res) => void res.json(tell(req.mfa.status === 'pending'))),
  })

  it('that tells somebody halfway something else is a finding, unless it is declared open', async () => {
    const greeting = page((pending) => ({ greeting: pending ? 'One more step' : 'Welcome' }))
    expect((await look(greeting)).findings).toEqual([
      { road: 'name', method: 'GET', route: '/page', why: 'it answers them with something else than nobody' },
    ])
    expect((await look(greeting, { open: ['/page'] })).findings).toEqual([])
  })

  it('that changes with each visit is none', async () => {
    let visits = 0
    expect((await look(page(() => ({ visit: ++visits })))).findings).toEqual([])
  })

  it('that streams without end is seen at its beginning', async () => {
    const { findings } = await look({
      beforeGate: (app) => void app.get('/events', (_req, res) => void res.write('data: 1\n\n')),
    })
    expect(findings.map(({ route }) => route)).toEqual(['/events'])
  })

  it('that never answers is told as not tried', async () => {
    const { untried } = await look({
      routes: (app) => void app.use('/stuck', () => {}),
      options: { open: ['/stuck'] },
    })
    expect(untried).toContainEqual({ method: 'GET', path: '/stuck', why: 'it did not answer' })
  })
})

it('signs in again when a route ends the half-login', async () => {
  const { findings } = await look({
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
  expect(findings.map(({ route }) => route)).toEqual(['/login/back'])
})
