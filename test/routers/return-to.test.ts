import { describe, expect, it } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, type Host, host, jsonAgent } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { begin, listen } from '../kit/sockets.js'

/** Targets that a browser would resolve to another site, or that are invalid. */
const unsafeTargets = [
  '//evil.example/x',
  '///evil.example/x',
  '/\\evil.example/x',
  '\\\\evil.example/x',
  '/./\\evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  '/%2e%2e//evil.example',
  'http://evil.example/x',
  'https:evil.example',
  'javascript:alert(1)',
  'data:text/html,hi',
  '//evil.example\\@localhost/',
  '/\t/evil.example',
  '/\n/evil.example',
  '\t//evil.example',
  ' //evil.example',
  '',
]

/** Targets that stay on this site, however they look. */
const safeTargets: [string, string][] = [
  ['/reports?year=2026#top', '/reports?year=2026#top'],
  ['/%2f/evil.example', '/%2f/evil.example'],
  ['/%5cevil.example', '/%5cevil.example'],
  ['/a?next=//evil.example', '/a?next=//evil.example'],
  ['/ümlaut', '/%C3%BCmlaut'],
  ['/a b', '/a%20b'],
  [`/authorize?request=${'a'.repeat(4_000)}`, `/authorize?request=${'a'.repeat(4_000)}`],
  [`/suche?q=${'%E3%81%82'.repeat(440)}`, `/suche?q=${'%E3%81%82'.repeat(440)}`],
]

async function finish({ standIn }: Host, browser: ReturnType<typeof browserAgent>, accept: 'html' | 'json') {
  const type = accept === 'html' ? 'text/html' : 'application/json'
  await challenge(browser, 'sms').set('Accept', type)
  const answer = await verify(browser, standIn.newestCode()).set('Accept', type)
  if (accept === 'json') return String(answer.body.next)
  expect(answer.status).toBe(303)
  return answer.headers.location
}

/** A host that sets `req.session.returnTo` itself, as connect-ensure-login does, without checking it. */
function trustingHost() {
  return host({
    options: { login: { homePath: '/home' } },
    beforeGate: (app) => {
      app.use((req, _res, next) => {
        const target = req.get('x-target')
        if (target !== undefined) Object.assign(req.session, { returnTo: JSON.parse(target) })
        next()
      })
    },
    routes: (app, _mfa, auth) => {
      app.post(
        '/mfa-login',
        auth.authenticate('mfa', { successReturnToOrRedirect: '/home', failureRedirect: '/mfa' }),
      )
    },
  })
}

describe('the redirect after the second factor (R15)', () => {
  it('does not follow a returnTo that leads to another site', () =>
    everyCase(unsafeTargets, async (target) => {
      for (const accept of ['html', 'json'] as const) {
        const made = trustingHost()
        const browser = browserAgent(made.app)
        await login(browser, 'bob').set('X-Target', JSON.stringify(target))
        expect(await finish(made, browser, accept)).toBe('/home')
      }
    }))

  it('does not follow it through the strategy either', () =>
    everyCase(unsafeTargets, async (target) => {
      const made = trustingHost()
      const browser = jsonAgent(made.app)
      await login(browser, 'bob').set('X-Target', JSON.stringify(target))
      await challenge(browser, 'sms')
      await browser
        .post('/mfa-login')
        .send({ code: made.standIn.newestCode() })
        .expect(302)
        .expect('Location', '/home')
    }))

  it('ignores a returnTo that is no path', () =>
    everyCase<unknown>([1, true, null, {}, [['/a']], { toString: '/a' }], async (target) => {
      const made = trustingHost()
      const browser = browserAgent(made.app)
      await login(browser, 'bob').set('X-Target', JSON.stringify(target))
      expect(await finish(made, browser, 'json')).toBe('/home')
    }))

  it('follows a returnTo on this site', () =>
    everyCase(safeTargets, async ([target, location]) => {
      for (const accept of ['html', 'json'] as const) {
        const made = trustingHost()
        const browser = browserAgent(made.app)
        const shown = JSON.stringify(target).replace(
          /[^\x20-\x7e]/g,
          (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
        )
        await login(browser, 'bob').set('X-Target', shown)
        expect(await finish(made, browser, accept)).toBe(location)
      }
    }))

  it('follows the returnTo of the host through the strategy, once', async () => {
    const made = trustingHost()
    const browser = jsonAgent(made.app)
    await login(browser, 'bob').set('X-Target', '"/reports?year=2026"')
    await challenge(browser, 'sms')
    await browser
      .post('/mfa-login')
      .send({ code: made.standIn.newestCode() })
      .expect(302)
      .expect('Location', '/reports?year=2026')
    await challenge(browser, 'sms')
    await browser
      .post('/mfa-login')
      .send({ code: made.standIn.newestCode() })
      .expect(302)
      .expect('Location', '/home')
  })

  it('leads to the requested page after a choice, another factor, wrong codes and a code sent again', async () => {
    const clock = stopClock()
    const { app, standIn } = host({ options: { login: { homePath: '/home' } } })
    const browser = browserAgent(app)
    await login(browser, 'alice').type('form')
    await browser.get('/secret?report=7&tab=2').expect(303).expect('Location', '/mfa')
    // A form is not requested again, so it does not take the place of the page.
    await browser.post('/transfer').type('form').send({}).expect(303).expect('Location', '/mfa')
    await browser.get('/mfa').expect(200)
    await challenge(browser, 'email').type('form').expect(303)
    await browser.get('/mfa/verify').expect(200)
    await verify(browser, '000 00x').type('form').redirects(1).expect(200)
    clock.move(30 * SECOND)
    await challenge(browser, 'email').type('form').expect(303)
    await browser.get('/mfa?choose').expect(200)
    await browser.get('/mfa/assets/mfa.css').expect(200)
    await challenge(browser, 'sms').type('form').expect(303)
    await verify(browser, '000 00x').type('form').redirects(1).expect(200)
    await verify(browser, standIn.newestCode('+447700900101'))
      .type('form')
      .expect(303)
      .expect('Location', '/secret?report=7&tab=2')
  })

  // An attacker can send a link like https://bank.example//evil.example to a user who has just typed a password.
  it('never leads to another site, whatever path a pending login requests', () =>
    everyCase(
      ['//evil.example/x', '///evil.example', '/\\evil.example', '/.//evil.example', 'http://evil.example/x'],
      async (path) => {
        for (const accept of ['html', 'json'] as const) {
          const made = host({ options: { login: { homePath: '/home' } } })
          const port = await listen(made.app)
          const browser = browserAgent(made.app)
          const cookie = sessionCookie(await login(browser, 'bob'))
          const away = await begin(port, {
            method: 'GET',
            path,
            headers: { Cookie: cookie, Accept: 'text/html' },
          }).finish()
          expect(away.status).toBe(303)
          expect(await finish(made, browser, accept)).toBe('/home')
        }
      },
    ))
})

describe('an address that is too long to return to (R15)', () => {
  const long = `/authorize?request=${'a'.repeat(4_100)}`
  const words = 'The address of the page that you wanted is too long to be kept.'

  it.each([
    ['that a pending login requested', '/secret'],
    ['that a guard interrupted', '/vault'],
    ['that the host remembered', undefined],
  ])('%s leads to a page that says so and leads on', async (_, path) => {
    const clock = stopClock()
    const made = host({
      options: { login: { homePath: '/home' } },
      beforeGate: (app) => {
        app.use((req, _res, next) => {
          if (req.get('x-long') !== undefined) Object.assign(req.session, { returnTo: long })
          next()
        })
      },
      routes: (app) =>
        void app.get('/vault', requireMfa({ maxAge: '5m' }), (_req, res) => void res.send('vault')),
    })
    const browser = browserAgent(made.app)
    const signIn = login(browser, 'bob').type('form')
    await (path === undefined ? signIn.set('x-long', 'yes') : signIn)
    if (path === '/vault') {
      await finish(made, browser, 'html')
      clock.move(6 * 60 * SECOND)
    }
    if (path) await browser.get(long.replace('/authorize', path)).expect(303).expect('Location', '/mfa')
    const next = await finish(made, browser, 'html')
    expect(next).toBe('/mfa/verify?page-lost')
    const { text } = await browser.get(next ?? '').expect(200)
    expect(text).toContain('<h1>You are signed in</h1>')
    expect(text).toContain(words)
    expect(text).toContain('href="/home"')
  })

  it('is not mentioned to a user whose address is kept, nor before the factor is shown', async () => {
    const made = host({ options: { login: { homePath: '/home' } } })
    const browser = browserAgent(made.app)
    await login(browser, 'bob').type('form')
    await browser.get(`/secret?q=${'a'.repeat(4_000)}`).expect(303)
    expect((await browser.get('/mfa/verify?page-lost').redirects(1)).text).not.toContain(words)
    expect(await finish(made, browser, 'html')).toMatch(/^\/secret\?q=a{4000}$/)
    expect((await browser.get('/mfa/verify').expect(200)).text).not.toContain(words)
  })
})

describe('a forged host in a header (R16)', () => {
  it('a secret of the request appears in no response, no redirect, no page and no call to the service', () =>
    everyCase(
      [
        ['Host', 'evil.example'],
        ['X-Forwarded-Host', 'evil.example'],
        ['Forwarded', 'host=evil.example'],
      ],
      async ([name, value]) => {
        for (const trust of [false, true]) {
          const made = host({ first: (app) => void app.set('trust proxy', trust) })
          const { app, standIn } = made
          const browser = browserAgent(app)
          const answers = [
            await login(browser, 'alice').set(name, value).type('form'),
            await browser.get('/secret').set(name, value),
            await browser.get('/mfa').set(name, value),
            await challenge(browser, 'email').set(name, value).type('form'),
            await browser.get('/mfa/verify').set(name, value),
            await verify(browser, '000000').set(name, value).type('form'),
            await verify(browser, standIn.newestCode()).set(name, value).type('form'),
            await browser.post('/mfa/enroll-app').set(name, value).type('form').send({}),
          ]
          for (const answer of answers) {
            expect(answer.status).toBeLessThan(500)
            expect(JSON.stringify(answer.headers) + answer.text).not.toContain('evil.example')
          }
          expect(JSON.stringify(standIn.calls)).not.toContain('evil.example')
        }
      },
    ))
})
