import { createServer } from 'node:http'
import express from 'express'
import Provider from 'oidc-provider'
import request from 'supertest'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { freePort, listenOnLoopback } from '../../../test/kit/loopback.js'
import { readOptions, type ServiceOptions } from '../../src/run/options.js'
import { advance, SECRET, stopClock } from '../kit.js'
import { type Browser, openConsole, post, read, type TestConsole, textOf, typePassword } from './kit.js'

const URL_OF_CONSOLE = 'https://console.example'
const CLIENT = { id: 'console', secret: 'a secret of the tests' }

/** Who signs in at the provider next. */
interface NextSignIn {
  readonly sub: string
  readonly amr?: readonly string[]
  readonly claims?: Readonly<Record<string, unknown>>
  /** When they showed the factors, in seconds since 1970. Defaults to now. */
  readonly at?: number
}

/** A provider on this machine that signs in whom the test says, without a page. */
async function startProvider() {
  let next: NextSignIn = { sub: 'nobody' }
  const seen: URLSearchParams[] = []
  const app = express()
  const server = createServer(app)
  const issuer = `http://127.0.0.1:${await listenOnLoopback(server)}`
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.id, client_secret: CLIENT.secret },
        redirect_uris: [`${URL_OF_CONSOLE}/console/sign-in/oidc/callback`],
        ...{ response_types: ['code'], grant_types: ['authorization_code'] },
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub', 'amr', 'acr', 'auth_time', 'groups'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...next.claims }) }),
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client?.clientId ?? '',
        accountId: ctx.oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid')
      await grant.save()
      return grant
    },
    cookies: { keys: ['a key of the tests'] },
    // The console uses PKCE, and would fail without it.
    pkce: { required: () => true },
  })
  app.get('/interaction/:uid', async (req, res) => {
    const { sub: accountId, amr = [], at } = next
    const login = { accountId, amr: [...amr], remember: false, ...(at !== undefined && { ts: at }) }
    await provider.interactionFinished(req, res, { login })
  })
  app.use((req, _res, go) => {
    if (req.path === '/auth') seen.push(new URL(req.originalUrl, issuer).searchParams)
    go()
  })
  app.use(provider.callback())
  return {
    issuer,
    seen,
    /** Says who signs in next. */
    signsIn(who: NextSignIn) {
      next = who
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('signing in to the console at an identity provider (R106, R109)', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>
  let console: TestConsole
  const options = (issuer: string) => ({
    ...{ url: URL_OF_CONSOLE, oidcIssuer: issuer, oidcClientId: CLIENT.id, oidcClientSecret: CLIENT.secret },
    ...{
      oidcAdmins: ['it-security', 'board'],
      oidcSupport: ['helpdesk'],
      oidcViewers: ['staff'],
      oidcAmr: ['mfa'],
    },
  })
  beforeAll(async () => {
    stopClock()
    provider = await startProvider()
    console = await openConsole(options(provider.issuer))
  })
  afterEach(() => void vi.unstubAllEnvs())
  afterAll(async () => {
    vi.useRealTimers()
    provider.close()
    await console.service.close()
  })

  /** Follows the browser to the provider and back; returns the path at which it comes back. */
  async function atProvider(browser: Browser, start = '/console/sign-in/oidc'): Promise<string> {
    const sent = await browser.get(start).expect(303)
    const there = request.agent(provider.issuer)
    let at = new URL(String(sent.headers.location))
    for (let hops = 0; hops < 6 && at.origin === provider.issuer; hops++) {
      const { headers } = await there.get(at.pathname + at.search)
      at = new URL(String(headers.location), provider.issuer)
    }
    expect(at.origin).toBe(URL_OF_CONSOLE)
    return at.pathname + at.search
  }
  const signIn = async (who: NextSignIn, browser = console.open()) => {
    provider.signsIn(who)
    const back = await browser.get(await atProvider(browser))
    return { browser, back }
  }
  const amr = ['pwd', 'mfa']
  const refusals = () =>
    console.events.flatMap(({ event, reason }) => (event === 'console.oidc_refused' ? [reason] : []))
  const audited = async () =>
    (await console.service.operator('test').listAudit({ limit: 5 })).map(
      ({ actor, action }) => `${actor} ${action}`,
    )

  test('gives the most powerful role of the groups, and writes issuer and subject to the audit log', () =>
    everyCase(
      [
        { groups: ['staff'], role: 'viewer' },
        { groups: ['staff', 'helpdesk'], role: 'support' },
        { groups: ['helpdesk', 'board', 'unknown'], role: 'admin' },
      ],
      async ({ groups, role }) => {
        const sub = `Person-${role}`
        const { browser, back } = await signIn({ sub, amr, claims: { groups } })
        expect([back.status, back.headers.location]).toEqual([303, '/console'])
        await browser.get('/console').expect(200)
        await browser.get('/console/operators').expect(role === 'admin' ? 200 : 403)
        const name = `${provider.issuer} ${sub}`
        expect((await audited())[0]).toBe(`${name} operator.signed_in`)
        const list = await console.service.operator('test').listOperators()
        expect(list.find(({ email }) => email === name)).toMatchObject({
          role,
          isExternal: true,
          state: 'active',
        })
      },
    ))

  test('takes the role of the groups of now, and never that of a local account with the same address', async () => {
    const claims = (groups: string[]) => ({ groups, email: 'local@example.com' })
    await console.signUp('admin', 'local@example.com')
    const first = await signIn({ sub: 'mover', amr, claims: claims(['staff']) })
    await first.browser.get('/console/operators').expect(403)
    const second = await signIn({ sub: 'mover', amr, claims: claims(['board']) })
    await second.browser.get('/console/operators').expect(200)
    await signIn({ sub: 'mover', amr, claims: claims(['staff']) })
    // Sessions that are open follow at once.
    await second.browser.get('/console/operators').expect(403)
    const names = (await console.service.operator('test').listOperators()).map(({ email }) => email)
    expect(names).toContain('local@example.com')
    // Subjects that differ in case only are two people.
    await signIn({ sub: 'MOVER', amr, claims: claims(['staff']) })
    expect((await console.service.operator('test').listOperators()).length).toBe(names.length + 1)
  })

  test('refuses people without a group that has a role, and groups that are no list of texts', () =>
    everyCase(
      [undefined, [], ['others'], 'board', { board: true }, [['board']], { 0: 'board', length: 1 }, null],
      async (groups) => {
        const { browser, back } = await signIn({ sub: 'outsider', amr, claims: { groups } })
        expect(back.status).toBe(403)
        expect(textOf(back.text)).toContain('None of your groups')
        expect(refusals().at(-1)).toBe('no_group')
        await browser.get('/console').expect(303).expect('location', '/console/sign-in')
      },
    ))

  test('refuses a provider that asked for no second factor, or says so in another form', () =>
    everyCase([{ amr: [] }, { amr: ['pwd'] }, { amr: ['MFA'] }, { amr: ['pwd', 'otp'] }], async (said) => {
      const { browser, back } = await signIn({ sub: 'weak', ...said, claims: { groups: ['board'] } })
      expect(back.status).toBe(403)
      expect(textOf(back.text)).toContain('did not ask for a second factor')
      expect(refusals().at(-1)).toBe('no_second_factor')
      await browser.get('/console').expect(303).expect('location', '/console/sign-in')
      await browser.get('/console/mfa').expect(({ status }) => expect(status).not.toBe(200))
    }))

  test('refuses a forged, missing, old or repeated state, and the code of another browser', async () => {
    provider.signsIn({ sub: 'victim', amr, claims: { groups: ['board'] } })
    const attacker = console.open()
    const stolen = await atProvider(attacker)
    const refused = async (browser: Browser, path: string) => {
      const { status, text } = await browser.get(path)
      expect([status, textOf(text).includes('Begin again')]).toEqual([400, true])
      expect(refusals().at(-1)).toBe('state')
      await browser.get('/console').expect(303).expect('location', '/console/sign-in')
    }
    // The victim's browser has begun nothing, or something else.
    await refused(console.open(), stolen)
    const victim = console.open()
    await victim.get('/console/sign-in/oidc').expect(303)
    await refused(victim, stolen)
    // A refused answer uses up what the browser has begun.
    const own = await atProvider(victim)
    await refused(victim, own.replace(/state=[^&]+/, 'state=forged'))
    await refused(victim, own)
    await refused(victim, '/console/sign-in/oidc/callback')
    const late = await atProvider(victim)
    advance(600)
    await refused(victim, late)
    // Of answers that arrive at once, one is taken.
    const both = await atProvider(victim)
    const answers = await Promise.all([1, 2, 3, 4].map(() => victim.get(both)))
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
    await victim.get('/console').expect(200)
  })

  test('refuses a code that was exchanged, and an error of the provider', async () => {
    const browser = console.open()
    const back = await atProvider(browser)
    const wrongCode = await browser.get(back.replace(/code=[^&]+/, 'code=guessed'))
    expect([wrongCode.status, refusals().at(-1)]).toEqual([503, 'provider_unavailable'])
    const started = new URL(await atProvider(browser), URL_OF_CONSOLE)
    const state = started.searchParams.get('state')
    const iss = encodeURIComponent(provider.issuer)
    const denied = await browser.get(`${started.pathname}?error=access_denied&state=${state}&iss=${iss}`)
    expect([denied.status, refusals().at(-1)]).toEqual([401, 'refused_by_provider'])
  })

  test('sends a step-up back to the provider, which must have asked again since', async () => {
    const who = { sub: 'admin', amr, claims: { groups: ['board'] } }
    const { browser } = await signIn(who)
    let forms = 0
    const change = () =>
      post(browser, '/console/applications/default/keys', {
        once: `form-${++forms}`,
        mode: 'test',
        scopes: 'read',
      })
    await change().expect(200)
    advance(601)
    const sent = await change().expect(303)
    expect(sent.headers.location).toBe('/console/sign-in/oidc?max_age=600')
    const start = String(sent.headers.location)
    provider.signsIn(who)
    const back = await browser.get(await atProvider(browser, start))
    expect(back.status).toBe(303)
    expect(provider.seen.at(-1)?.get('max_age')).toBe('600')
    await change().expect(200)
    advance(601)
    const again = await change().expect(303)
    provider.signsIn({ ...who, at: Math.floor(Date.now() / 1000) - 601 })
    const stale = await browser.get(await atProvider(browser, String(again.headers.location)))
    expect(stale.status).not.toBe(303)
    await change().expect(303)
  })

  test('ends the session if another person comes back from a step-up', async () => {
    const { browser } = await signIn({ sub: 'first', amr, claims: { groups: ['board'] } })
    advance(601)
    const sent = await post(browser, '/console/applications/default/keys', { mode: 'test' }).expect(303)
    provider.signsIn({ sub: 'second', amr, claims: { groups: ['board'] } })
    const back = await browser.get(await atProvider(browser, String(sent.headers.location)))
    expect([back.status, refusals().at(-1)]).toEqual([401, 'session_ended'])
    await browser.get('/console').expect(303).expect('location', '/console/sign-in')
  })

  test('refuses an account that an administrator disabled, and has neither password nor roles of its own', async () => {
    const who = { sub: 'leaver', amr, claims: { groups: ['board'] } }
    const { browser } = await signIn(who)
    const name = `${provider.issuer} leaver`
    const ops = console.service.operator('test')
    await expect(ops.changeRole(name, 'viewer')).rejects.toThrow('at the identity provider')
    await expect(ops.resetOperator(name)).rejects.toThrow('at the identity provider')
    await ops.disableOperator(name)
    await browser.get('/console').expect(303)
    expect((await signIn(who)).back.status).toBe(403)
    expect(refusals().at(-1)).toBe('disabled')
    await typePassword(console.open(), name, 'any password at all').expect(401)
    await expect(ops.enableOperator('local@example.com')).rejects.toThrow('invite others anew')
    await ops.enableOperator(name)
    expect((await signIn(who)).back.status).toBe(303)
  })

  test('leaves local accounts, also while the provider is down', async () => {
    const down = await openConsole(options(`http://127.0.0.1:${await freePort()}`))
    onTestFinished(() => down.service.close())
    const browser = down.open()
    const page = await browser.get('/console/sign-in/oidc').expect(503)
    expect(textOf(page.text)).toContain('sign in with an account of the console')
    expect(await read(browser, '/console/sign-in')).toContain('Sign in with your company')
    const ann = await down.signUp('admin', 'ann@example.com')
    await ann.browser.get('/console/operators').expect(200)
  })

  test('needs everything that the provider gives, groups, and what counts as a second factor', () => {
    const faultsOf = (console: ServiceOptions['console']) => {
      try {
        readOptions({ secret: SECRET, delivery: 'inbox', console })
      } catch (error) {
        return (error as { faults: string[] }).faults.map((fault) => fault.split(' ')[0])
      }
      return []
    }
    expect(faultsOf(options(provider.issuer))).toEqual([])
    expect(faultsOf({ oidcIssuer: 'https://id.example.com' })).toEqual(
      ['url', 'oidcClientId', 'oidcClientSecret', 'oidcAdmins', 'oidcAmr'].map((name) => `console.${name}`),
    )
    expect(faultsOf({ oidcClientId: 'x' })).toEqual(['console.oidcIssuer'])
    vi.stubEnv('NODE_ENV', 'production')
    const production = { ...options('http://id.example.com'), trustedProxies: ['loopback'] }
    expect(faultsOf(production)).toContain('console.oidcIssuer')
  })
})
