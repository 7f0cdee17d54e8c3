import { addKey, signInWithKey, softwareAuthenticator } from 'countersign/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { advance, stopClock } from '../kit.js'
import {
  enrollApp,
  openConsole,
  PASSWORD,
  post,
  read,
  type TestConsole,
  textOf,
  typeCode,
  typePassword,
} from './kit.js'

const ORIGIN = 'https://console.example'

describe('signing in to the console (R106)', () => {
  let console: TestConsole
  beforeAll(async () => {
    stopClock()
    console = await openConsole({ trustedProxies: ['loopback'], url: ORIGIN })
  })
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }))
  afterEach(() => void vi.unstubAllEnvs())
  afterAll(async () => {
    vi.useRealTimers()
    await console.service.close()
  })
  const audited = async () =>
    (await console.service.operator('test').listAudit({ limit: 50 })).map(
      ({ actor, action, detail }) => `${actor} ${action} ${detail}`,
    )

  test('takes an invitation, a password and an authenticator app, and records each step in the audit log', async () => {
    const link = await console.invite('Ann@Example.com', 'admin')
    const browser = console.open()
    expect(await read(browser, link)).toContain('Choose a password')
    const refused = await post(browser, link, { password: 'short', again: 'short' }).expect(422)
    expect(textOf(refused.text)).toContain('A password has 12 to 200 characters')
    await post(browser, link, { password: 'ann ann ann ann', again: 'ann ann ann ann' }).expect(422)
    await post(browser, link, { password: PASSWORD, again: `${PASSWORD}!` }).expect(422)
    await post(browser, link, { password: PASSWORD, again: PASSWORD }).expect(307)
    await read(browser, link, 404)
    await post(browser, link, { password: PASSWORD, again: PASSWORD }).expect(404)

    await typePassword(browser, 'ANN@example.com').expect(303).expect('location', '/console/mfa')
    await browser.get('/console').expect(303)
    await enrollApp(browser)
    expect(await read(browser, '/console')).toContain('You can read and change everything.')
    expect(await audited()).toEqual([
      'ann@example.com operator.factor_added ann@example.com app',
      'ann@example.com operator.password_set ann@example.com',
      'system operator.invited ann@example.com admin',
    ])
  })

  test('takes a security key instead of an authenticator app, at the invitation and for step-ups, until a new invitation', async () => {
    const authenticator = softwareAuthenticator()
    const key = { authenticator, origin: ORIGIN, path: '/console/mfa' } as const
    const email = 'keyholder@example.com'
    const link = await console.invite(email, 'admin')
    const browser = console.open()
    await post(browser, link, { password: PASSWORD, again: PASSWORD }).expect(307)
    await typePassword(browser, email).expect(303)
    expect(await read(browser, '/console/mfa/enroll-app')).toContain('Add a passkey')
    await addKey(browser, { ...key, method: 'security-key' })
    expect(await read(browser, '/console')).toContain('You can read and change everything.')

    await post(browser, '/console/sign-out').expect(303)
    // The hour to set up a factor is over, and this operator has one.
    advance(3_600)
    await typePassword(browser, email).expect(303)
    await browser.get('/console').expect(303)
    await signInWithKey(browser, key)
    await browser.get('/console/operators').expect(200)

    advance(10 * 60)
    const change = () => post(browser, '/console/operators/role', { email: 'x@example.com', role: 'viewer' })
    await change()
      .expect(303)
      .expect('location', /^\/console\/mfa/)
    await signInWithKey(browser, key)
    await change().expect(422)
    expect((await audited()).slice(0, 2)).toEqual([
      `${email} operator.signed_in ${email}`,
      `${email} operator.factor_added ${email} security-key`,
    ])

    const again = await console.invite(email)
    await post(browser, again, { password: PASSWORD, again: PASSWORD }).expect(307)
    await typePassword(browser, email).expect(303)
    expect(await read(browser, '/console/mfa/enroll-app')).toContain('Add a passkey')
    await expect(signInWithKey(browser, key)).rejects.toThrow()
  })

  test('refuses the password of an operator who removed the last second factor', async () => {
    const operator = await console.signUp('viewer')
    advance(3_600)
    await post(operator.browser, '/console/sign-out').expect(303)
    await typePassword(operator.browser, operator.email).expect(303)
    await typeCode(operator).expect(303)
    await post(operator.browser, '/console/mfa/enroll-app/remove').expect(303)
    expect((await audited())[0]).toBe(`${operator.email} operator.factor_removed ${operator.email} app`)
    await typePassword(console.open(), operator.email).expect(401)
  })

  test('requires the second factor at every sign-in, and leads to the page that was requested', async () => {
    const operator = await console.signUp('admin')
    await post(operator.browser, '/console/sign-out').expect(303)
    await operator.browser.get('/console').expect(303).expect('location', '/console/sign-in')
    await operator.browser.get('/console/operators').expect(303)
    await typePassword(operator.browser, operator.email).expect(303)
    await operator.browser.get('/console/operators').expect(303)
    advance(30)
    await typeCode(operator).expect(303).expect('location', '/console/operators')
    expect(await read(operator.browser, '/console/operators')).toContain(operator.email)
    expect((await audited())[0]).toBe(`${operator.email} operator.signed_in ${operator.email}`)
  })

  test('gives a new session id after the password and after the second factor, and kills the old ones (R03)', async () => {
    const operator = await console.signUp('viewer')
    const idOf = (response: { headers: Record<string, unknown> }) =>
      /console=([^;]+)/.exec(String(response.headers['set-cookie']))?.[1] ?? ''
    const browser = console.open()
    const fixed = idOf(await browser.get('/console'))
    const pending = idOf(await typePassword(browser, operator.email).expect(303))
    const verified = idOf(await typeCode({ ...operator, browser }).expect(303))
    expect(new Set([fixed, pending, verified, '']).size).toBe(4)
    for (const id of [fixed, pending]) {
      await console.open().get('/console').set('Cookie', `console=${id}`).expect(303)
    }
    await console.open().get('/console').set('Cookie', `console=${verified}`).expect(200)
    await post(browser, '/console/sign-out')
    await console.open().get('/console').set('Cookie', `console=${verified}`).expect(303)
  })

  test('lasts 12 hours from the password on, however the session is used', async () => {
    const operator = await console.signUp('viewer')
    for (let hour = 0; hour < 11; hour++) {
      advance(3_600)
      await operator.browser.get('/console').expect(200)
    }
    advance(3_540)
    await operator.browser.get('/console').expect(303)
  })

  test('lasts no longer after a step-up, which keeps the time of the password (R106)', async () => {
    const operator = await console.signUp('admin')
    const change = () =>
      post(operator.browser, '/console/operators/role', { email: 'x@example.com', role: 'viewer' })
    advance(11 * 3_600)
    await change().expect(303)
    await typeCode(operator).expect(303)
    await change().expect(422)
    advance(3_480)
    await operator.browser.get('/console').expect(200)
    advance(120)
    await operator.browser.get('/console').expect(303).expect('location', '/console/sign-in')
    // A sign-in begins anew.
    await typePassword(operator.browser, operator.email).expect(303)
    await typeCode(operator).expect(303)
    advance(11 * 3_600)
    await operator.browser.get('/console').expect(200)
  })

  test('checks 100 passwords of one operator in a day, from however many networks (R31)', async () => {
    const [{ email }, other] = [await console.signUp('viewer'), await console.signUp('viewer')]
    const from = (network: number, name = email, password = 'not the password') =>
      typePassword(console.open(), name, password).set('X-Forwarded-For', `203.0.${network}.1`)
    // The first one was the right password.
    for (let network = 1; network < 100; network++) await from(network).expect(401)
    await from(100, email, PASSWORD).expect(429)
    advance(23 * 3_600)
    await from(101, email, PASSWORD).expect(429)
    await from(101, other.email, PASSWORD).expect(303)
    advance(3_600)
    await from(102, email, PASSWORD).expect(303)
  })

  test('takes a password with a letter that is the whole name of its mailbox, and none with a longer name', async () => {
    const set = async (email: string, password: string) =>
      (await post(console.open(), await console.invite(email), { password, again: password })).status
    expect(await set('v@corp.example', 'seven quiet otters float')).toBe(307)
    expect(await set('otter@corp.example', 'seven quiet Otters float')).toBe(422)
    expect(await set('bob@corp.example', 'seven bobs float by')).toBe(422)
  })

  test('answers an unknown address like a wrong password, and stops after ten attempts from one network (R90)', async () => {
    const { email } = await console.signUp('viewer')
    const pages = []
    for (const name of [email, 'nobody@example.com']) {
      const browser = console.open()
      for (let attempt = 0; attempt < 10; attempt++) {
        const { text } = await typePassword(browser, name, 'not the password').expect(401)
        if (attempt === 0) pages.push(text.replaceAll(name, ''))
      }
      const { text } = await typePassword(browser, name).expect(429)
      expect(textOf(text)).toContain('There were too many attempts.')
    }
    expect(pages[0]).toBe(pages[1])
    advance(15 * 60)
    await typePassword(console.open(), email).expect(303)
  })

  test('checks at most 100 passwords in 15 minutes from one network, for all accounts together (R31)', async () => {
    advance(15 * 60)
    const { email } = await console.signUp('viewer')
    const { length } = await Promise.all(
      Array.from({ length: 100 }, (_, index) => typePassword(console.open(), `user${index}@example.com`)),
    )
    expect(length).toBe(100)
    await typePassword(console.open(), email).expect(429)
    advance(15 * 60)
    await typePassword(console.open(), email).expect(303)
  })

  test('refuses a password without an app when the hour to set one up is over', async () => {
    const link = await console.invite('late@example.com')
    const browser = console.open()
    await post(browser, link, { password: PASSWORD, again: PASSWORD }).expect(307)
    advance(3_600)
    await typePassword(browser, 'late@example.com').expect(401)
  })

  test('replaces password and app by a new invitation, which ends all sessions and expires after 24 hours', async () => {
    const operator = await console.signUp('support')
    const expired = await console.invite(operator.email)
    await operator.browser.get('/console').expect(200)
    advance(24 * 3_600)
    await read(console.open(), expired, 404)
    const link = await console.invite(operator.email)
    const browser = console.open()
    await post(browser, link, { password: `${PASSWORD} twice`, again: `${PASSWORD} twice` }).expect(307)
    await operator.browser.get('/console').expect(303)
    await typePassword(browser, operator.email).expect(401)
    await typePassword(browser, operator.email, `${PASSWORD} twice`).expect(303)
    // The former app does not pass; a new one must be set up.
    await typeCode({ ...operator, browser }).expect('location', /enroll-app/)
    await browser.get('/console').expect(303)
    await enrollApp(browser)
    expect(await read(browser, '/console')).toContain('support')
  })

  test('ends the sessions of an operator who is disabled, and refuses the password', async () => {
    const operator = await console.signUp('support')
    await console.service.operator('system').disableOperator(operator.email)
    await operator.browser.get('/console').expect(303)
    await typePassword(console.open(), operator.email).expect(401)
  })

  test('refuses forms of other sites, and those of which no browser says where they come from (R13)', async () => {
    const { browser } = await console.signUp('viewer')
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': '', Origin: 'https://evil.example' },
      { 'Sec-Fetch-Site': '' },
    ]) {
      for (const path of ['/console/sign-out', '/console/sign-in', '/console/mfa/verify']) {
        const sent = post(browser, path)
        for (const [name, value] of Object.entries(headers)) value ? sent.set(name, value) : sent.unset(name)
        const { status } = await sent
        expect([path, headers, status]).toEqual([path, headers, 403])
      }
    }
    await browser.get('/console').expect(200)
  })

  test('sends pages without scripts that cannot be framed or cached, and cookies that scripts cannot read (R11, R12)', async () => {
    const { browser } = await console.signUp('viewer')
    const { headers } = await browser.get('/console').expect(200)
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'self'.*frame-ancestors 'none'/,
      ),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    })
    const { headers: first } = await console.open().get('/console').expect(303)
    expect(String(first['set-cookie'])).toMatch(/^console=.*; Path=\/; Expires=.*; HttpOnly; SameSite=Lax$/)
  })

  test('is closed in production without TLS, and uses cookies that need it (R73)', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    await console.open().get('/console/sign-in').expect(403)
    const { headers } = await console
      .open()
      .get('/console/operators')
      .set('X-Forwarded-Proto', 'https')
      .expect(303)
    expect(String(headers['set-cookie'])).toContain('; Secure')
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
  })
})
