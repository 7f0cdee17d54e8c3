import { createServer } from 'node:http'
import express from 'express'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MfaOptions, requireMfa } from '../../src/index.js'
import { renderView } from '../../src/pages/render.js'
import { sendPage } from '../../src/web/http/headers.js'
import { BROWSERS } from '../kit/browsers.js'
import { host, type TestUser } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { PATIENCE_MS } from '../kit/patience.js'
import { ALL_VIEWS, manyTongued } from '../pages/samples.js'

/*
 * After the last form of the pages, the app leads on to another origin: to an OAuth client, another host of the company, a payment page.
 * Chromium applies `form-action` to every redirect after a form.
 */

/** An app whose pages behind the sign-in all answer with a redirect to another origin. */
async function serveApp(options: Partial<MfaOptions<TestUser>> = {}) {
  const elsewhere = createServer((request, response) => {
    response.setHeader('content-type', 'text/html').end(`<title>Client</title>CLIENT ${request.url}`)
  })
  const client = `http://127.0.0.1:${await listenOnLoopback(elsewhere)}`
  const made = host({
    options: { login: { homePath: '/authorize', signInPath: '/sign-in' }, ...options },
    first: (app) => {
      app.get('/sign-in', (req, res) => {
        // An identity provider of another origin asks a user who left.
        res.redirect(302, `${client}/provider${req.url.includes('again') ? '?again' : ''}`)
      })
      app.get('/start', (_req, res) => void res.send('<!doctype html><title>Shop</title>'))
    },
    routes: (app) => {
      app.get('/authorize', (req, res) => {
        res.redirect(302, req.isAuthenticated() ? `${client}/cb?code=abc` : '/sign-in')
      })
      app.get('/pay', (_req, res) => {
        res.send(
          '<!doctype html><title>Shop</title><form method="post"><button name="amount" value="7">Pay</button></form>',
        )
      })
      app.post(
        '/pay',
        express.urlencoded({ extended: false }),
        requireMfa({ maxAge: '5m', resume: ['amount'] }),
        (req, res) => res.redirect(303, `${client}/paid?amount=${req.body.amount}`),
      )
    },
  })
  const server = createServer(made.app)
  const url = `http://localhost:${await listenOnLoopback(server)}`
  const close = () => {
    for (const open of [server, elsewhere]) {
      open.closeAllConnections()
      open.close()
    }
  }
  return { ...made, url, client, close }
}

describe.each(BROWSERS)('in $name, an app that leads to another origin', ({ name, isThere, open }) => {
  describe.skipIf(!isThere)('after a form of the pages', () => {
    let browser: Browser
    let site: Awaited<ReturnType<typeof serveApp>>
    beforeAll(async () => {
      site = await serveApp()
      browser = await open()
    }, PATIENCE_MS)
    afterAll(async () => {
      await browser?.close()
      site?.close()
    })

    /** A page of a user whose login is pending. */
    async function pendingPage(user: string, scripts: boolean, { url } = site): Promise<Page> {
      const context = await browser.newContext(scripts ? {} : { javaScriptEnabled: false })
      const page = await context.newPage()
      const login = await fetch(`${url}/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ name: user }),
      })
      const [cookie = ''] = login.headers.getSetCookie()
      const [, key = '', value = ''] = /^([^=]+)=([^;]+)/.exec(cookie) ?? []
      await context.addCookies([{ name: key, value, url }])
      return page
    }
    const SCRIPTS = name === 'Chromium' ? [true, false] : [true]

    it.each(SCRIPTS)(
      'leads there after a right code, also after a wrong one (scripts: %s)',
      async (scripts) => {
        const page = await pendingPage('bob', scripts)
        await page.goto(`${site.url}/mfa`)
        const send = page.locator('form[action$="/challenge"] button')
        if (await send.count()) await send.first().click()
        const enter = async (code: string) => {
          await page.locator('input[name=code]').fill(code)
          const button = page.locator('form:has(input[name=code]) button').first()
          await button.click({ noWaitAfter: true, timeout: 3_000 }).catch(() => {})
        }
        await page.locator('input[name=code]').waitFor()
        await enter(site.standIn.newestCode() === '000000' ? '111111' : '000000')
        await page.locator('[role=alert]').first().waitFor()
        await enter(site.standIn.newestCode())
        await page.waitForURL(`${site.client}/cb?code=abc`)
        await page.context().close()
      },
    )

    it.each(SCRIPTS)('leads there when an interrupted form is sent again (scripts: %s)', async (scripts) => {
      const shop = await serveApp({ policy: () => 'skip' })
      const page = await pendingPage('bob', scripts, shop)
      await page.goto(`${shop.url}/pay`)
      await page.getByRole('button').click()
      await page.waitForURL(/\/mfa$/)
      const send = page.locator('form[action$="/challenge"] button')
      if (await send.count()) await send.first().click()
      await page.locator('input[name=code]').fill(shop.standIn.newestCode())
      const enter = page.locator('form:has(input[name=code]) button').first()
      await enter.click({ noWaitAfter: true, timeout: 3_000 }).catch(() => {})
      await page.waitForURL(/\/mfa\/resume$/)
      await page.locator('form[action="/pay"] button').click({ noWaitAfter: true })
      await page.waitForURL(`${shop.client}/paid?amount=7`)
      await page.context().close()
      shop.close()
    })

    it.each(SCRIPTS)('leads there when the user leaves the sign-in (scripts: %s)', async (scripts) => {
      const page = await pendingPage('bob', scripts)
      await page.goto(`${site.url}/mfa`)
      await page.locator('form[action$="/cancel"] button').first().click({ noWaitAfter: true })
      await page.waitForURL(/\/provider/)
      await page.context().close()
    })
  })
})

it('pages whose forms lead to pages of ours alone keep form-action (R12)', () => {
  const withoutFormAction = new Set<string>()
  const withFormAction = new Set<string>()
  for (const [, view] of ALL_VIEWS) {
    const headers = new Map<string, unknown>()
    const res = { setHeader: (name: string, value: unknown) => headers.set(name, value), end: () => {} }
    const frame = { ...manyTongued, purpose: 'manage' } as const
    sendPage(res as never, renderView(view, frame), frame.base)
    const policy = headers.get('Content-Security-Policy')
    ;(policy === undefined ? withFormAction : withoutFormAction).add(view.page)
    if (policy !== undefined) {
      expect(policy).toMatch(/script-src 'self'.*base-uri 'none'.*frame-ancestors 'none'/)
      expect(policy).not.toContain('form-action')
    }
  }
  for (const page of ['code', 'key', 'key-offer', 'resume', 'backup-codes', 'bypass']) {
    expect([page, withoutFormAction.has(page)]).toEqual([page, true])
  }
  for (const page of [
    'devices',
    'keys',
    'key-remove',
    'remove',
    'not-me',
    'cancel-recovery',
    'overview',
    'enrolled',
  ]) {
    expect([page, withFormAction.has(page)]).toEqual([page, true])
  }
})
