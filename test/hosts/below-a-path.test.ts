import express, { type Express as App } from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { type AccountNotice, type MfaEvent, requireMfa } from '../../src/index.js'
import { type HostSetup, host, type TestUser } from '../kit/host.js'
import { listen } from '../kit/sockets.js'
import { behindStrippingProxy } from '../kit/stripping-proxy.js'

const PATHS = {
  login: { signInPath: '/bank/login', signOutPath: '/bank/logout', homePath: '/bank/' },
  pages: { stylesheet: '/bank/own.css' },
}

/** An app whose pages a browser finds below `/bank`, although its own routes do not have that prefix. */
function bank(urls: NonNullable<HostSetup['options']>['urls'] = {}) {
  const notices: AccountNotice[] = []
  const events: MfaEvent[] = []
  const made = host({
    first: (app) => app.set('trust proxy', 'loopback'),
    beforeGate: (app, auth) => void app.use(auth.initialize()),
    routes: (app) => {
      const form = express.urlencoded({ extended: false })
      app.get('/login', (_req, res) => void res.send('sign in here'))
      app.post('/send', form, requireMfa({ maxAge: '5m', resume: ['amount'] }), (req, res) => {
        res.send(`sent ${(req.user as TestUser | undefined)?.id} ${req.body.amount}`)
      })
    },
    options: {
      ...PATHS,
      trustedDevices: { store: 'memory' },
      languages: { offer: ['en', 'de'] },
      urls: { path: '/bank/mfa', publicUrl: 'https://shop.example', ...urls },
      notices: { onNotice: (_user, notice) => void notices.push(notice) },
      onEvent: (event) => void events.push(event),
    },
  })
  return { ...made, notices, events }
}

const setups: readonly [string, Parameters<typeof bank>[0], (app: App) => Promise<number>][] = [
  ['an app that is mounted at /bank', {}, (app) => listen(express().use('/bank', app))],
  [
    'an app behind a proxy that removes /bank from each path',
    { pathPrefix: '/bank' },
    (app) => behindStrippingProxy(app, '/bank'),
  ],
]

describe.each(setups)('%s', (_, urls, open) => {
  async function started() {
    const made = bank(urls)
    const port = await open(made.app)
    const agent = request.agent(`http://127.0.0.1:${port}`)
    const html = { Accept: 'text/html', Origin: `http://127.0.0.1:${port}` }
    const seen: string[] = []
    /** Records every address that a page links to. */
    const recordLinks = (page: request.Response) => {
      for (const [, link = ''] of page.text.matchAll(/(?:href|src|action)="([^"]+)"/g)) {
        if (link !== 'data:,') seen.push(link)
      }
      return page
    }
    return {
      ...made,
      agent,
      seen,
      get: (path: string) => agent.get(path).set(html).then(recordLinks),
      post: (path: string, fields: object) =>
        agent.post(path).set(html).type('form').send(fields).then(recordLinks),
      json: (path: string) => agent.get(path).set('Accept', 'application/json'),
    }
  }

  it('has redirects, forms, links and files below /bank, from sign-in to step-up', async () => {
    const { get, post, seen, standIn, agent, failures } = await started()
    await post('/bank/login', { name: 'bob' })
    expect((await get('/bank/secret?tab=2')).headers.location).toBe('/bank/mfa')
    expect((await get('/bank/mfa')).status).toBe(200)
    expect((await post('/bank/mfa/challenge', { factor: 'sms' })).headers.location).toBe('/bank/mfa/verify')
    await get('/bank/mfa/verify')
    const done = await post('/bank/mfa/verify', { code: standIn.newestCode(), trust: 'on' })
    expect(done.headers.location).toBe('/bank/secret?tab=2')
    expect((await get('/bank/secret?tab=2')).status).toBe(200)
    for (const page of ['', '/devices', '/enroll-app', '/backup']) {
      expect((await get(`/bank/mfa${page}`)).status, page).toBe(200)
    }
    expect(seen.length).toBeGreaterThan(20)
    for (const link of seen) expect(link).toMatch(/^\/bank\//)
    for (const file of new Set(seen.filter((link) => link.includes('/assets/')))) {
      await agent.get(file).expect(200)
    }
    expect(failures).toEqual([])
  })

  it('gives JSON clients the same addresses', async () => {
    const { post, json } = await started()
    await post('/bank/login', { name: 'bob' })
    expect((await json('/bank/secret')).body).toMatchObject({ code: 'mfa_required', next: '/bank/mfa' })
    expect((await json('/bank/mfa')).body.status).toBe('pending')
  })

  it('offers an interrupted form again, and sends it to its address', async () => {
    const made = await started()
    const { get, post, standIn } = made
    await post('/bank/login', { name: 'bob' })
    await post('/bank/mfa/challenge', { factor: 'sms' })
    await post('/bank/mfa/verify', { code: standIn.newestCode(), trust: 'on' })
    // The next sign-in uses the trusted device, which is no second factor.
    await post('/bank/login', { name: 'bob' })
    expect((await post('/bank/send', { amount: '7' })).headers.location).toBe('/bank/mfa')
    await post('/bank/mfa/challenge', { factor: 'sms' })
    const done = await post('/bank/mfa/verify', { code: standIn.newestCode() })
    expect(done.headers.location).toBe('/bank/mfa/resume')
    expect((await get('/bank/mfa/resume')).text).toContain('action="/bank/send"')
    expect((await post('/bank/send', { amount: '7' })).text).toBe('sent u-bob 7')
    // A form that was sent is not offered again.
    expect((await get('/bank/mfa/resume')).headers.location).toBe('/bank/')
  })

  it('changes the language, and leads back to the same page', async () => {
    const { get, post, failures } = await started()
    await post('/bank/login', { name: 'bob' })
    const page = await get('/bank/mfa/verify?factor=sms')
    const back = /name="back" value="([^"]+)"/.exec(page.text)?.[1]
    expect(back).toBe('/bank/mfa/verify?factor=sms')
    const chosen = await post('/bank/mfa/language', { language: 'de', back })
    expect(chosen.headers.location).toBe('/bank/mfa/verify?factor=sms')
    expect((await get('/bank/mfa')).text).toContain('<html lang="de"')
    expect(failures).toEqual([])
  })

  it('receives its cookies, and limits the one of the last factor to the pages of the plugin', async () => {
    const { post, standIn, json } = await started()
    await post('/bank/login', { name: 'bob' })
    await post('/bank/mfa/challenge', { factor: 'sms' })
    const done = await post('/bank/mfa/verify', { code: standIn.newestCode(), trust: 'on' })
    const lines = String(done.headers['set-cookie'])
    expect(lines).toContain('mfa_last=sms; Max-Age=31536000; Path=/bank/mfa;')
    expect(lines).toMatch(/mfa-devices=[^;]+; Max-Age=\d+; Path=\/;/)
    expect((await json('/bank/mfa/devices')).body.devices).toMatchObject([{ current: true }])
    await post('/bank/logout', {})
    const again = await post('/bank/login', { name: 'bob' })
    expect(JSON.parse(again.text).mfa.trusted).toBe(true)
  })

  it('leads the link of a notice to the page that secures the account', async () => {
    const { get, post, standIn, notices } = await started()
    await post('/bank/login', { name: 'bob' })
    await post('/bank/mfa/challenge', { factor: 'sms' })
    await post('/bank/mfa/verify', { code: standIn.newestCode(), trust: 'on' })
    const { pathname, search, origin } = new URL(notices[0]?.notMeUrl ?? '')
    expect(origin + pathname).toBe('https://shop.example/bank/mfa/not-me')
    expect((await get(pathname + search)).text).toContain('action="/bank/mfa/not-me"')
    const token = new URLSearchParams(search).get('token')
    const ended = await post('/bank/mfa/not-me', { token })
    expect(ended.headers.location).toBe('/bank/mfa/not-me?done')
    expect((await get('/bank/mfa/not-me?done')).text).toContain('href="/bank/login"')
  })

  it('gets no warning', async () => {
    const { get, events } = await started()
    await get('/bank/login')
    expect(events).toEqual([])
  })
})

describe('an app below a path that its options do not name', () => {
  it('reports at the first request where its routers are, and which options to set', async () => {
    const made = bank()
    const port = await behindStrippingProxy(made.app, '/bank')
    const answer = await request(`http://127.0.0.1:${port}`).get('/bank/mfa').expect(500)
    expect(answer.body.detail).toContain(
      "urls.path: '/mfa', or urls.pathPrefix: '/bank' behind a proxy that removes /bank.",
    )
  })

  it('gets a warning when the proxy names the path', async () => {
    const made = bank({ path: '/mfa' })
    const port = await behindStrippingProxy(made.app, '/bank')
    for (let nth = 0; nth < 2; nth++) await request(`http://127.0.0.1:${port}`).get('/bank/secret')
    expect(made.events).toMatchObject([{ type: 'warning', code: 'MFA_WARN_PATH_PREFIX' }])
  })
})
