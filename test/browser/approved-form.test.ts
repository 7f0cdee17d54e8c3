import { createServer } from 'node:http'
import express from 'express'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { stopClock } from '../kit/clock.js'
import { host } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { PATIENCE_MS } from '../kit/patience.js'

const page = (main: string) => `<!doctype html><title>Shop</title><main>${main}</main>`
const FORM = page(
  '<form method="post"><input name="amount" value="250.00"><input name="requestSubmit" value="x"><button>Pay</button></form>',
)

/** Serves an app with a form that needs an approval, and one that needs a recent factor. */
async function serveShop() {
  const paid: unknown[] = []
  const made = host({
    first: (app) => {
      app.get('/sign-in', (_req, res) => {
        res.send(
          page('<form method="post" action="/login"><button name="name" value="bob">Sign in</button></form>'),
        )
      })
    },
    routes: (app) => {
      const pay: express.RequestHandler = (req, res) => {
        paid.push(req.body)
        res.send(page(`Paid ${req.body.amount}`))
      }
      const parse = express.urlencoded({ extended: false })
      const kept = ['amount', 'requestSubmit']
      app.get(['/pay', '/close'], (_req, res) => void res.send(FORM))
      app.post('/pay', parse, requireMfa({ bind: ['amount'], resume: ['requestSubmit'] }), pay)
      app.post('/close', parse, requireMfa({ maxAge: '30s', resume: kept }), pay)
    },
  })
  const server = createServer(made.app)
  const url = `http://localhost:${await listenOnLoopback(server)}`
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { ...made, paid, url }
}

describe.skipIf(!hasBrowser)('a form that a factor interrupted, after the right code (R121, R122)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  }, PATIENCE_MS)
  afterAll(() => browser?.close())

  /** The shop, with a page whose user is signed in and has shown no factor for a minute. */
  async function openShop(javaScriptEnabled = true) {
    const clock = stopClock()
    const shop = await serveShop()
    const context = await browser.newContext({ javaScriptEnabled })
    context.setDefaultTimeout(PATIENCE_MS)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(`${shop.url}/sign-in`)
    await page.getByRole('button').click()
    await page.goto(`${shop.url}/mfa`)
    const show = async () => {
      await page.getByRole('button', { name: /^Text a code/ }).click()
      await page.getByLabel('Verification code').fill(shop.standIn.newestCode())
      if (!javaScriptEnabled) await page.getByRole('button', { name: 'Continue' }).click()
    }
    await show()
    await page.waitForURL(`${shop.url}/`)
    clock.move(60_000)
    const pay = async (path: string) => {
      await page.goto(shop.url + path)
      await page.getByRole('button', { name: 'Pay' }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
    }
    return { ...shop, clock, page, show, pay }
  }

  const text = (page: Page) => page.getByRole('main').textContent()
  const sendButton = (page: Page) => page.getByRole('button', { name: 'Send now', exact: true })

  it('goes through by itself if the code approved it, and not again on Back, reload or in another tab', async () => {
    const { page, pay, show, paid, url } = await openShop()
    await pay('/pay')
    expect(await page.title()).not.toContain('250')
    await show()
    await page.getByText('Paid 250.00').waitFor()
    expect(paid).toEqual([{ amount: '250.00', requestSubmit: 'x' }])
    await page.goBack()
    await page.waitForLoadState('networkidle')
    await page.goto(`${url}/mfa/resume`)
    await page.reload()
    const tab = await page.context().newPage()
    await tab.goto(`${url}/mfa/resume`)
    await tab.waitForLoadState('networkidle')
    expect(paid).toHaveLength(1)
  })

  it('waits for its button where the page was left before it was sent', async () => {
    const { page, pay, show, paid, url } = await openShop()
    await pay('/pay')
    // The network fails once, so the page stays.
    const failed = page.waitForEvent('requestfailed')
    await page.route('**/pay', (route) => route.abort())
    await show()
    await failed
    await page.unroute('**/pay')
    await page.goto(`${url}/mfa/resume`)
    await sendButton(page).waitFor()
    await page.reload()
    await page.waitForLoadState('networkidle')
    expect(paid).toEqual([])
    expect(await text(page)).toMatch(/You have confirmed exactly this:\s*Amount\s*250\.00/)
    await sendButton(page).click()
    await page.getByText('Paid 250.00').waitFor()
    expect(paid).toHaveLength(1)
  })

  it('waits for its button without scripts, and says that it was confirmed', async () => {
    const { page, pay, show, paid } = await openShop(false)
    await pay('/pay')
    await show()
    expect(paid).toEqual([])
    expect(await text(page)).toMatch(/You have confirmed exactly this:\s*Amount\s*250\.00/)
    await sendButton(page).click()
    expect(await text(page)).toBe('Paid 250.00')
  })

  it('waits for its button if the code approved nothing', async () => {
    const { page, pay, show, paid } = await openShop()
    await pay('/close')
    await show()
    await sendButton(page).waitFor()
    await page.waitForLoadState('networkidle')
    expect(paid).toEqual([])
    expect(await text(page)).not.toContain('You have confirmed')
    await sendButton(page).click()
    await page.getByText('Paid 250.00').waitFor()
  })
})
