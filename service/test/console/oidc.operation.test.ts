import { decodeJwt, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { freePort } from '../../../test/kit/loopback.js'
import { readOptions, type ServiceOptions } from '../../src/run/options.js'
import { advance, SECRET, stopClock } from '../kit.js'
import {
  CLIENT,
  LOGOUT,
  type NextSignIn,
  optionsFor,
  startProvider,
  URL_OF_CONSOLE,
} from './identity-provider.js'
import { type Browser, openConsole, post, read, type TestConsole, textOf, typePassword } from './kit.js'

describe('signing in to the console at an identity provider (R106, R109)', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>
  let console: TestConsole
  beforeAll(async () => {
    stopClock()
    provider = await startProvider()
    console = await openConsole(optionsFor(provider.issuer))
  })
  afterEach(() => void vi.unstubAllEnvs())
  afterAll(async () => {
    vi.useRealTimers()
    provider.close()
    await console.service.close()
  })

  const atProvider = (browser: Browser, start?: string) => provider.visit(browser, start)
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

  test('ends all open sessions of a person whose last group is gone (R106)', async () => {
    const admin = (groups: string[], sub = 'former') => ({ sub, amr, claims: { groups } })
    const { browser } = await signIn(admin(['board']))
    const other = await signIn(admin(['board'], 'stays'))
    await browser.get('/console/operators').expect(200)
    const again = await signIn(admin(['others']))
    expect([again.back.status, refusals().at(-1)]).toEqual([403, 'no_group'])
    await browser.get('/console/operators').expect(303).expect('location', '/console/sign-in')
    await other.browser.get('/console/operators').expect(200)
    expect((await audited())[0]).toBe(`${provider.issuer} operator.sessions_ended`)
  })

  test('says when a person signs out of the console that the session of the provider goes on', async () => {
    const { browser } = await signIn({ sub: 'leaves', amr, claims: { groups: ['staff'] } })
    const { headers } = await post(browser, '/console/sign-out').expect(303)
    expect(await read(browser, String(headers.location))).toContain('not at your company’s sign-in')
    const local = await console.signUp('viewer')
    await post(local.browser, '/console/sign-out').expect(303).expect('location', '/console/sign-in')
    expect(await read(browser, '/console/sign-in')).not.toContain('You are signed out')
  })

  /** A request of the provider: no browser says where it comes from. */
  const sendLogout = async (logout_token: string) => {
    const { status } = await post(console.open(), LOGOUT, { logout_token }).set('Sec-Fetch-Site', '')
    return status
  }
  const isOpen = async (browser: Browser) => (await browser.get('/console')).status === 200

  test('ends all sessions of a person who signs out at the provider, and of nobody else (R106)', async () => {
    const [browser, there] = [console.open(), provider.browser()]
    provider.signsIn({ sub: 'signs-out', amr, claims: { groups: ['board'] } })
    await browser.get(await provider.visit(browser, undefined, there)).expect(303)
    const second = await signIn({ sub: 'signs-out', amr, claims: { groups: ['board'] } })
    const other = await signIn({ sub: 'remains', amr, claims: { groups: ['board'] } })
    expect(await provider.signOut(there, sendLogout)).toEqual([200])
    const sessions = [browser, second.browser, other.browser]
    expect(await Promise.all(sessions.map(isOpen))).toEqual([false, false, true])
    expect((await audited())[0]).toBe(`${provider.issuer} operator.sessions_ended`)
  })

  test('takes a logout token once, as OpenID Connect Back-Channel Logout 1.0 says, and no other (R106)', async () => {
    const who = { sub: 'target', amr, claims: { groups: ['staff'] } }
    const { browser } = await signIn(who)
    const now = Math.floor(Date.now() / 1000)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    let ids = 0
    const claims = (more: Record<string, unknown> = {}) => ({
      ...{
        iss: provider.issuer,
        aud: CLIENT.id,
        iat: now,
        exp: now + 120,
        jti: `id-${++ids}`,
        sub: 'target',
      },
      ...{ events, ...more },
    })
    const { privateKey } = await generateKeyPair('RS256')
    const hmac = new TextEncoder().encode(CLIENT.secret)
    const forged = [
      '',
      'no.token.here',
      new UnsecuredJWT(claims()).encode(),
      await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(hmac),
      await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: 'tests' }).sign(privateKey),
      ...(await Promise.all(
        [
          { iss: 'https://evil.example' },
          { aud: 'another client' },
          { iat: now - 600 },
          { iat: now + 600, exp: now + 900 },
          { iat: undefined },
          { iat: now - 200, exp: now - 100 },
          { exp: undefined },
          { jti: undefined },
          { jti: '' },
          { sub: undefined },
          { sub: 7 },
          { events: undefined },
          { events: {} },
          { events: { 'http://schemas.openid.net/event/backchannel-logout': 'yes' } },
          { events: ['http://schemas.openid.net/event/backchannel-logout'] },
          { nonce: 'of an ID token' },
        ].map((more) => provider.sign(claims(more))),
      )),
    ]
    await everyCase(forged, async (token) => {
      expect([await sendLogout(token), refusals().at(-1), await isOpen(browser)]).toEqual([
        400,
        'logout_token',
        true,
      ])
    })
    const good = await provider.sign(claims())
    expect([await sendLogout(good), await isOpen(browser)]).toEqual([200, false])
    const again = await signIn(who)
    expect([await sendLogout(good), await isOpen(again.browser)]).toEqual([400, true])
    expect(await sendLogout(await provider.sign(claims({ sub: 'nobody here' })))).toBe(200)
    expect(await isOpen(again.browser)).toBe(true)
    // Other routes take no such request.
    await post(console.open(), '/console/sign-out').set('Sec-Fetch-Site', '').expect(403)
  })

  test('refuses an ID token with another signature, or of a later time than now (R106, R109)', async () => {
    onTestFinished(() => provider.retouches(undefined))
    const who = { sub: 'retouched', amr, claims: { groups: ['staff'] } }
    const { privateKey } = await generateKeyPair('RS256')
    const kid = { alg: 'RS256', kid: 'tests' }
    const later = (token: string, seconds: number) => {
      const claims = decodeJwt(token)
      return { ...claims, iat: Number(claims.iat) + seconds }
    }
    const cases = [
      [(token: string) => new SignJWT(decodeJwt(token)).setProtectedHeader(kid).sign(privateKey), 401],
      [(token: string) => provider.sign(later(token, 90)), 401],
      [(token: string) => provider.sign(later(token, 30)), 303],
      [(token: string) => provider.sign(decodeJwt(token)), 303],
    ] as const
    await everyCase(cases, async ([retouch, status]) => {
      provider.retouches(retouch)
      expect((await signIn(who)).back.status).toBe(status)
    })
  })

  test('asks the provider to repeat a logout token of a key that may be newer than those it knows (R106)', async () => {
    onTestFinished(() => provider.publishes(undefined))
    const own = await openConsole(optionsFor(provider.issuer))
    onTestFinished(() => own.service.close())
    const now = () => Math.floor(Date.now() / 1000)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const claims = (jti: string) => ({
      ...{ iss: provider.issuer, aud: CLIENT.id, iat: now(), exp: now() + 120, jti, sub: 'rotated', events },
    })
    const send = async (logout_token: string) =>
      (await post(own.open(), LOGOUT, { logout_token }).set('Sec-Fetch-Site', '')).status
    expect(await send(await provider.sign(claims('before')))).toBe(200)
    const next = await generateKeyPair('RS256', { extractable: true })
    provider.publishes([{ ...(await exportJWK(next.publicKey)), kid: 'next', alg: 'RS256', use: 'sig' }])
    const signed = (kid: string) =>
      new SignJWT(claims(kid)).setProtectedHeader({ alg: 'RS256', kid }).sign(next.privateKey)
    expect(await send(await signed('next'))).toBe(503)
    advance(31)
    expect(await send(await signed('next'))).toBe(200)
    advance(31)
    // The keys were read for this token, and it is of none of them.
    expect(await send(await signed('unknown'))).toBe(400)
    provider.publishes([])
    advance(3_600)
    const { issuer } = provider
    expect([issuer, await send(await signed('later'))]).toEqual([issuer, 400])
  })

  test('finds the person by the session of the provider when a logout token names nothing else', async () => {
    const [browser, there] = [console.open(), provider.browser()]
    provider.signsIn({ sub: 'by-session', amr, claims: { groups: ['staff'] } })
    await browser.get(await provider.visit(browser, undefined, there)).expect(303)
    let sid: unknown
    await provider.signOut(there, async (token) => {
      sid = decodeJwt(token).sid
      return 200
    })
    expect([typeof sid, await isOpen(browser)]).toEqual(['string', true])
    const now = Math.floor(Date.now() / 1000)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const sign = (session: unknown) =>
      provider.sign({
        ...{ iss: provider.issuer, aud: CLIENT.id, iat: now, exp: now + 120, jti: `by ${session}` },
        ...{ events, sid: session },
      })
    expect([await sendLogout(await sign('unknown')), await isOpen(browser)]).toEqual([200, true])
    expect([await sendLogout(await sign(sid)), await isOpen(browser)]).toEqual([200, false])
  })

  test('names the refusal of the client in the log and on the page, as an expired secret is not an outage', () =>
    everyCase(['client_secret_post', 'client_secret_basic'] as const, async (authMethod) => {
      const strict = await startProvider(authMethod)
      const expired = await openConsole({
        ...optionsFor(strict.issuer),
        oidcClientSecret: 'the secret of last year',
      })
      onTestFinished(async () => {
        strict.close()
        await expired.service.close()
      })
      strict.signsIn({ sub: 'ann', amr, claims: { groups: ['board'] } })
      const browser = expired.open()
      const back = await browser.get(await strict.visit(browser)).expect(503)
      expect(textOf(back.text)).toMatch(
        /refuses the console, whose client secret may have expired.*invalid_client/,
      )
      expect(expired.events.filter(({ event }) => event === 'console.oidc_refused')).toMatchObject([
        { reason: 'client_refused', detail: 'invalid_client' },
      ])
    }))

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
    expect([wrongCode.status, refusals().at(-1)]).toEqual([401, 'refused_by_provider'])
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
    const down = await openConsole(optionsFor(`http://127.0.0.1:${await freePort()}`))
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
    expect(faultsOf(optionsFor(provider.issuer))).toEqual([])
    expect(faultsOf({ oidcIssuer: 'https://id.example.com' })).toEqual(
      ['url', 'oidcClientId', 'oidcClientSecret', 'oidcAdmins', 'oidcAmr'].map((name) => `console.${name}`),
    )
    expect(faultsOf({ oidcClientId: 'x' })).toEqual(['console.oidcIssuer'])
    vi.stubEnv('NODE_ENV', 'production')
    const production = { ...optionsFor('http://id.example.com'), trustedProxies: ['loopback'] }
    expect(faultsOf(production)).toContain('console.oidcIssuer')
  })
})
