import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { Express } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../../src/cli/main.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { rightApp } from '../right-apps/app.js'

/** Runs `countersign check` on an app. */
async function check(app: Express, args: readonly string[] = [], signIn = '/login') {
  const server = createServer(app)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://localhost:${await listenOnLoopback(server)}`
  const out: string[] = []
  const named = ['--sign-in', `POST ${signIn} username=bob&password=$BOB`, '--protected', '/']
  const code = await runCommand(['check', url, ...named, ...args], {
    env: { BOB: 'bob-password' },
    stdin: async () => '',
    out: (text) => void out.push(text),
    err: (text) => void out.push(text),
  })
  return { code, out: out.join('\n'), words: out.join(' ').replace(/\s+/g, ' ') }
}

const PAGES = ['--route', '/about', '--route', '/contact']

describe('countersign check finds no bypass in a right app', () => {
  it('whose first page after the login has a message that is shown once', async () => {
    const { code, words } = await check(rightApp({ flash: 'You are signed in.' }), PAGES)
    expect(words).toContain('public GET /about only the first page after the login differs: "p class=')
    expect(words).toContain('You are signed in.')
    expect(code).toBe(0)
  })

  it('that leads to a provider with another state in each request, whose address is no route of the app', async () => {
    const state = () => randomBytes(12).toString('base64url')
    const routes = (app: Express) => {
      app.get('/auth/provider', (_req, res) => res.redirect(`/auth/there?state=${state()}&scope=email`))
      app.get('/auth/there', (_req, res) => void res.send('Sign in'))
    }
    const { code, words } = await check(rightApp({ routes }), ['--route', '/auth/provider'])
    expect(words).toContain('refused GET /auth/provider everyone gets 302')
    expect(words).not.toContain('/auth/there')
    expect(code).toBe(0)
  })

  it('whose form has its CSRF token at another path than it is posted to, once that is named', async () => {
    const app = () => rightApp({ action: '/login/password', hasToken: true })
    const unnamed = await check(app(), [], '/login/password')
    expect(unnamed.words).toContain('responded with 403.')
    expect(unnamed.words).toContain('at another path, name that with --sign-in-page.')
    expect(unnamed.code).toBe(2)
    expect((await check(app(), ['--sign-in-page', '/login'], '/login/password')).code).toBe(0)
  })

  it('whose sign-in page greets a pending login', async () => {
    const routes = (app: Express) =>
      void app.get('/about/you', ({ session }, res) => void res.send(session.flash ?? 'Nobody'))
    expect((await check(rightApp({ routes }), ['--route', '/login?as=bob'])).words).toContain(
      'public GET /login?as=bob it is the sign-in page',
    )
  })

  it('that signs in at a path of its own', async () => {
    const { code, words } = await check(rightApp({ signInPath: '/users/login' }), PAGES, '/users/login')
    expect(words).not.toContain('Cancel leads to')
    expect(code).toBe(0)
    const unset = rightApp({ signInPath: '/users/login', isSignInPathSet: false })
    expect((await check(unset, PAGES, '/users/login')).words).toContain(
      'Cancel leads to /login → 404: set login.signInPath',
    )
  })
})

describe('countersign check', () => {
  it('finds a name that the gate hides only from the second page on, beside a message that is shown once (R01)', async () => {
    const { code, words } = await check(rightApp({ flash: 'Welcome.', isLate: true }), PAGES)
    expect(words).toMatch(
      /BYPASS GET \/about a pending login gets other content than an anonymous request: "/,
    )
    expect(code).toBe(1)
  })

  it('quotes at most 200 characters of what differs, in lines of at most 80 columns', async () => {
    const flash = 'long '.repeat(200)
    const { out } = await check(rightApp({ flash }), PAGES)
    const lines = out.split('\n')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    const quoted =
      /the login differs: ("[\s\S]*?" instead of "[\s\S]*?")/.exec(out.replace(/\s+/g, ' '))?.[1] ?? ''
    expect(quoted.length).toBeGreaterThan(50)
    expect(quoted.length).toBeLessThanOrEqual(200)
  })
})
