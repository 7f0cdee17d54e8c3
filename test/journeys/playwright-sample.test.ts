import { readFile } from 'node:fs/promises'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMfa, type MfaService } from '../../src/index.js'
import { mfaTestKit } from '../../src/testing/index.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'

interface User {
  readonly id: string
}

/** The app of the sample: bob signs in with a password, and has a phone and an authenticator app. */
function createApp({ service }: { readonly service: MfaService }) {
  const auth = new passport.Authenticator()
  auth.serializeUser<string>((user, done) => done(null, (user as object as User).id))
  auth.deserializeUser<string>((id, done) => done(null, { id } as object as Express.User))
  const mfa = createMfa<User>({
    service,
    factors: () => [
      { method: 'sms', phone: '+447700900102' },
      { method: 'app', user: 'bob@example.com' },
    ],
  })
  const app = express()
  app.use(session({ secret: 'a test secret', resave: false, saveUninitialized: false }), auth.session())
  app.use(mfa.session)
  app.use('/mfa', mfa.router)
  app.get('/login', (_req, res) => {
    res.send(`<!doctype html><title>Sign in</title><form method="post"><label>Name <input name="name"></label>
      <label>Password <input name="password" type="password"></label><button>Sign in</button></form>`)
  })
  app.post('/login', express.urlencoded({ extended: false }), (req, res, next) => {
    if (req.body.password !== 'secret') return res.redirect('/login')
    const user = { id: req.body.name } as object as Express.User
    req.logIn(user, (error) => (error ? next(error) : res.redirect('/')))
  })
  app.get('/', (req, res) => {
    res.send(
      req.user ? `<!doctype html><title>Home</title>Signed in as ${(req.user as object as User).id}` : '',
    )
  })
  return app
}

type Hook = () => unknown
type PageTest = (fixtures: { readonly page: Page }) => Promise<void>

/** As much of `@playwright/test` as the sample uses. */
function runner() {
  const tests: { readonly title: string; readonly run: PageTest }[] = []
  const hooks: Record<'beforeAll' | 'afterAll' | 'afterEach', Hook[]> = {
    beforeAll: [],
    afterAll: [],
    afterEach: [],
  }
  const test = Object.assign((title: string, run: PageTest) => void tests.push({ title, run }), {
    beforeAll: (hook: Hook) => void hooks.beforeAll.push(hook),
    afterAll: (hook: Hook) => void hooks.afterAll.push(hook),
    afterEach: (hook: Hook) => void hooks.afterEach.push(hook),
  })
  const expectVisible = (locator: Locator) => ({ toBeVisible: () => locator.waitFor() })
  return { tests, hooks, test, expectVisible }
}

describe.skipIf(!hasBrowser)('the sample for Playwright in the document about testing', () => {
  it('runs as it is written', async () => {
    const document = await readFile(new URL('../../docs/test-runners.md', import.meta.url), 'utf8')
    const [, sample = ''] = /## Playwright\n[\s\S]*?```js\n([\s\S]*?)```/.exec(document) ?? []
    const { tests, hooks, test, expectVisible } = runner()
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    // The imports are passed in instead.
    const body = sample.replaceAll(/^import .*\n/gm, '')
    new Function('expect', 'test', 'mfaTestKit', 'createApp', body)(
      expectVisible,
      test,
      mfaTestKit,
      createApp,
    )
    expect(tests.map(({ title }) => title)).toEqual([
      'signs in with a text message',
      'signs in with an authenticator app',
    ])

    for (const hook of hooks.beforeAll) await hook()
    for (const { run } of tests) {
      const context = await browser.newContext()
      await run({ page: await context.newPage() })
      await context.close()
      for (const hook of hooks.afterEach) await hook()
    }
    for (const hook of hooks.afterAll) await hook()
  })
})
