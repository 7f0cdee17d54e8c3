import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import express from 'express'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { BROWSERS } from '../kit/browsers.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { host } from '../kit/host.js'
import { isLong } from '../kit/long.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { PATIENCE_MS } from '../kit/patience.js'

const MODULE = readFileSync(new URL('../../dist/esm/browser.mjs', import.meta.url))

const PAGE = `<!doctype html><title>Shop</title><button>Transfer</button><p></p>
<script type="module">
  import { withStepUp } from '/browser.mjs'
  window.withStepUp = withStepUp
  window.request = withStepUp()
  window.send = () => request('/transfer', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"to":"ann"}',
  })
  window.words = ({ name, reason, problem, retryAfterSeconds }) => JSON.stringify({ name, reason, code: problem?.code, retryAfterSeconds })
  document.querySelector('button').onclick = () => send().then(
    async (response) => { document.querySelector('p').textContent = response.status + ' ' + await response.text() },
    (error) => { document.querySelector('p').textContent = words(error) },
  )
</script>`

/** Serves an app whose page transfers money, which needs a factor that is at most five minutes old. */
async function serveShop(coop?: string) {
  const bodies: unknown[] = []
  const made = host({
    options: { limits: { failuresBeforeLock: 5 } },
    first: (app) => {
      app.get('/browser.mjs', (_req, res) => void res.type('text/javascript').send(MODULE))
      app.get('/', (_req, res) => void res.send(PAGE))
      app.use('/mfa', (_req, res, next) => {
        if (coop !== undefined) res.set('Cross-Origin-Opener-Policy', coop)
        next()
      })
    },
    behindGate: (app) => {
      app.use('/transfer', express.json(), (req, _res, next) => {
        bodies.push(req.body)
        next()
      })
      app.get('/elsewhere', (req, res) => {
        res.status(401).json({ code: 'step_up_required', next: req.query.next })
      })
    },
    routes: (app) => {
      app.post('/pay', express.json(), requireMfa({ bind: ['amount', 'to'] }), (req, res) => {
        res.json({ paid: req.body, as: req.mfa?.approval?.binding })
      })
      app.post(
        '/close',
        requireMfa({ minStrength: 'strong' }),
        (_req, res) => void res.json({ closed: true }),
      )
    },
  })
  const server = createServer(made.app)
  const port = await listenOnLoopback(server)
  return {
    ...made,
    bodies,
    url: `http://localhost:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

describe.each(BROWSERS)('withStepUp in $name', ({ name, isThere, open }) => {
  describe.skipIf(!isThere)('on a page of the app', () => {
    let browser: Browser
    let context: BrowserContext
    beforeAll(async () => {
      browser = await open()
    })
    afterAll(() => browser?.close())

    /** The page of a new shop, in a new browser, whose user has shown the password only, or a factor six minutes ago. */
    async function openShop({ verified = true, coop }: { verified?: boolean; coop?: string } = {}) {
      const clock = stopClock()
      const shop = await serveShop(coop)
      context = await browser.newContext()
      context.setDefaultTimeout(PATIENCE_MS)
      onTestFinished(async () => {
        await context.close()
        shop.close()
      })
      const page = await context.newPage()
      await page.goto(shop.url)
      await post(page, '/login', { name: 'bob' })
      if (verified) {
        await post(page, '/mfa/challenge', { factor: 'sms' })
        await post(page, '/mfa/verify', { code: shop.standIn.newestCode() })
        clock.move(6 * MINUTE)
      }
      return { ...shop, clock, page }
    }

    const post = (page: Page, path: string, body: object) =>
      page.evaluate(
        `fetch('${path}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '${JSON.stringify(body)}' }).then((response) => response.status)`,
      )

    /** Presses the button of the page, and returns the pop-up that opens. */
    async function press(page: Page): Promise<Page> {
      const [popUp] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('button', { name: 'Transfer' }).click(),
      ])
      await popUp.getByRole('button', { name: /^Text a code/ }).waitFor()
      return popUp
    }

    async function showFactor(popUp: Page, code: () => string): Promise<void> {
      await popUp.getByRole('button', { name: /^Text a code/ }).click()
      const field = popUp.getByLabel('Verification code')
      await field.waitFor()
      await field.fill(code())
    }

    const outcome = (page: Page) =>
      expect.poll(() => page.locator('p').textContent(), { timeout: PATIENCE_MS })

    // Responses are the same in every browser.
    const itInOne = it.runIf(name === 'Chromium' || isLong)

    it('opens a pop-up, closes it when the factor was shown, and repeats the request once', async () => {
      const { page, standIn, bodies } = await openShop()
      const popUp = await press(page)
      const closed = popUp.waitForEvent('close')
      await showFactor(popUp, standIn.newestCode)
      await closed
      await outcome(page).toBe('200 {"done":true}')
      expect(bodies).toEqual([{ to: 'ann' }, { to: 'ann' }])
      expect(await page.evaluate('send().then(({ status }) => status)')).toBe(200)
      expect(bodies).toHaveLength(3)
    })

    it('asks for a factor for exactly one request, shows what it approves, and repeats that request once (R121)', async () => {
      const { page, standIn } = await openShop()
      await page.evaluate(`
        window.pay = (to, send) => send('/pay', {
          method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ amount: '250.00', to }),
        }).then(async (response) => response.status + ' ' + await response.text())
        document.querySelector('button').onclick = () => { window.answer = pay('ann', request) }
        undefined`)
      const popUp = await press(page)
      expect(await popUp.getByRole('main').textContent()).toMatch(/amount\s*250\.00\s*to\s*ann/i)
      const closed = popUp.waitForEvent('close')
      await showFactor(popUp, standIn.newestCode)
      await closed
      expect(await page.evaluate('answer')).toBe('200 {"paid":{"amount":"250.00","to":"ann"},"as":"entered"}')
      expect(await page.evaluate(`pay('ann', fetch)`)).toContain('401')
      expect(await page.evaluate(`pay('eve', fetch)`)).toMatch(/^401 .*"step_up_required".*"eve"/)
    })

    itInOne('completes a pending login', async () => {
      const { page, standIn } = await openShop({ verified: false })
      await showFactor(await press(page), standIn.newestCode)
      await outcome(page).toBe('200 {"done":true}')
    })

    it('says that the user canceled', async () => {
      const { page, bodies } = await openShop()
      await (await press(page)).close()
      await outcome(page).toBe('{"name":"StepUpError","reason":"canceled","code":"step_up_required"}')
      expect(bodies).toHaveLength(2)
    })

    itInOne('says that the login expired', async () => {
      const { page, clock } = await openShop({ verified: false })
      const popUp = await press(page)
      clock.move(20 * MINUTE)
      await popUp.close()
      await outcome(page).toContain('"reason":"expired"')
    })

    itInOne('says that it failed, and how long the account is locked', async () => {
      const { page, standIn } = await openShop()
      const popUp = await press(page)
      await showFactor(popUp, () => '')
      const wrong = standIn.newestCode() === '000000' ? '000001' : '000000'
      for (let count = 0; count < 5; count += 1) {
        expect(await post(page, '/mfa/verify', { code: wrong })).toBe(401)
      }
      await popUp.close()
      await outcome(page).toMatch(/"reason":"failed","code":"step_up_required","retryAfterSeconds":\d+/)
    })

    itInOne('says that it failed where the request needs more than the factor that was shown', async () => {
      const { page, standIn, users } = await openShop({ verified: false })
      users.bob?.factors.push({ method: 'app', user: 'bob@example.com' })
      await page.evaluate(
        'window.send = () => request("/close", { method: "POST" }); document.querySelector("button").onclick = () => { window.refusal = send().catch(words) }; undefined',
      )
      await showFactor(await press(page), standIn.newestCode)
      expect(await page.evaluate('refusal')).toBe(
        '{"name":"StepUpError","reason":"failed","code":"mfa_required"}',
      )
    })

    it('says that no window was opened, after the app saw what the response says', async () => {
      const { page } = await openShop()
      const seen = await page.evaluate(`(async () => {
        const seen = []
        const open = (address, problem) => { seen.push(new URL(address).pathname, problem.factors.length); return null }
        await withStepUp(fetch, { open })('/transfer', { method: 'POST' }).catch(({ reason }) => seen.push(reason))
        return seen
      })()`)
      expect(seen).toEqual(['/mfa', 1, 'blocked'])
    })

    it('opens one pop-up for requests at once', async () => {
      const { page, standIn } = await openShop()
      await page.evaluate(
        'window.twice = () => { window.all = Promise.all([send(), send(), send()].map((one) => one.then(({ status }) => status))) }; document.querySelector("button").onclick = twice; undefined',
      )
      await showFactor(await press(page), standIn.newestCode)
      expect(await page.evaluate('all')).toEqual([200, 200, 200])
      expect(context.pages()).toHaveLength(1)
    })

    it('closes the pop-up when the request is aborted', async () => {
      const { page } = await openShop()
      await page.evaluate(
        `window.controller = new AbortController(); document.querySelector("button").onclick = () => { window.aborted = request('/transfer', { method: 'POST', signal: controller.signal }).catch(({ name }) => name) }; undefined`,
      )
      const popUp = await press(page)
      const closed = popUp.waitForEvent('close')
      await page.evaluate('controller.abort()')
      await closed
      expect(await page.evaluate('aborted')).toBe('AbortError')
    })

    it('aborts the aborted one of two requests that wait for the same pop-up, and copies both before it sends them', async () => {
      const { page, standIn, bodies } = await openShop()
      await page.evaluate(`
        window.controller = new AbortController()
        window.sent = new URLSearchParams({ to: 'ann' })
        const both = () => {
          const init = { method: 'POST', signal: controller.signal }
          window.first = request('/transfer', init).catch(({ name }) => name)
          const headers = { 'content-type': 'application/json' }
          const other = { method: 'POST', headers, body: new TextEncoder().encode('{"to":"ann"}') }
          window.second = request(new URL('/transfer', location.href), other).then(({ status }) => status)
          setTimeout(() => { other.body.fill(32); other.method = 'PUT'; headers['content-type'] = 'text/plain' }, 300)
        }
        document.querySelector('button').onclick = both
        undefined`)
      const popUp = await press(page)
      await page.evaluate('controller.abort()')
      expect(await page.evaluate('first')).toBe('AbortError')
      expect(popUp.isClosed()).toBe(false)
      await showFactor(popUp, standIn.newestCode)
      expect(await page.evaluate('second')).toBe(200)
      expect(bodies.filter((body) => body !== undefined)).toEqual([{ to: 'ann' }, { to: 'ann' }])
    })

    it('opens a new window though a frame and the opener of the page have its name', async () => {
      const { page, standIn, url, clock } = await openShop()
      const other = url.replace('localhost', '127.0.0.1')
      const evil = await context.newPage()
      await evil.goto(other)
      await evil.evaluate("window.name = 'countersign'")
      const [shop] = await Promise.all([
        evil.waitForEvent('popup'),
        evil.evaluate(`window.open('${url}'); undefined`),
      ])
      await shop.waitForFunction('window.request')
      await page.evaluate(
        `document.body.append(Object.assign(document.createElement('iframe'), { name: 'countersign', src: '${other}/browser.mjs' }))`,
      )
      for (const from of [shop, page]) {
        const popUp = await press(from)
        expect(await popUp.evaluate('name')).toBe('')
        await showFactor(popUp, standIn.newestCode)
        await outcome(from).toBe('200 {"done":true}')
        if (from === shop) expect(evil.url()).toBe(`${other}/`)
        clock.move(6 * MINUTE)
      }
    })

    it('refuses a window that is not new, and an address in a blob', async () => {
      const { page } = await openShop()
      const seen = await page.evaluate(`(async () => {
        const frame = document.createElement('iframe')
        document.body.append(frame)
        const reasons = []
        for (const page of [window, frame.contentWindow]) {
          await withStepUp(fetch, { open: () => page })('/transfer', { method: 'POST' }).catch(({ reason }) => reasons.push(reason))
        }
        const blob = URL.createObjectURL(new Blob(['<title>Not the app</title>'], { type: 'text/html' }))
        for (const next of [blob, 'filesystem:' + location.origin + '/temporary/x']) {
          const opened = []
          const send = withStepUp(fetch, { open: (address) => { opened.push(address); return null } })
          reasons.push((await send('/elsewhere?next=' + encodeURIComponent(next))).status, opened.length)
        }
        return reasons
      })()`)
      expect(seen).toEqual(['blocked', 'blocked', 401, 0, 401, 0])
    })

    it('ends after a quarter of an hour, and does not repeat a stream', async () => {
      const { page } = await openShop()
      const reason =
        await page.evaluate(`request('/transfer', { method: 'POST', duplex: 'half', body: new ReadableStream() })
        .catch((error) => error.name)`)
      // Chromium sends streams over HTTP/2 only.
      expect(['TypeError', 'StepUpError']).toContain(reason)
      expect(
        await page.evaluate(`withStepUp(async () => Object.defineProperty(new Response(
          JSON.stringify({ code: 'step_up_required', next: '/mfa' }), { status: 401 }), 'url', { value: location.href }))('/transfer', {
          method: 'POST', duplex: 'half', body: new ReadableStream() }).catch(({ reason }) => reason)`),
      ).toBe('unrepeatable')
      const popUp = await press(page)
      const closed = popUp.waitForEvent('close')
      await page.evaluate('const now = Date.now; Date.now = () => now() + 16 * 60_000')
      await closed
      await outcome(page).toContain('"reason":"expired"')
    })

    it('believes no message of a window, and waits while the pop-up shows another site', async () => {
      const { page, bodies, url } = await openShop()
      const popUp = await press(page)
      await popUp.evaluate(`location.assign('${url.replace('localhost', '127.0.0.1')}')`)
      await popUp.waitForURL(/127\.0\.0\.1/)
      await popUp.evaluate(
        `for (const data of ['verified', { status: 'verified', ok: true, type: 'countersign' }]) opener.postMessage(data, '*')`,
      )
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      expect(bodies).toHaveLength(1)
      expect(popUp.isClosed()).toBe(false)
      await popUp.close()
      await outcome(page).toContain('"reason":"canceled"')
    })

    it('opens no page of another site, whatever a response says', async () => {
      const { page, url } = await openShop()
      const addresses = [
        'https://evil.example/mfa',
        '//evil.example/mfa',
        'javascript:alert(1)',
        'data:text/html,hi',
      ]
      await everyCase(addresses, async (next) => {
        const path = `/elsewhere?next=${encodeURIComponent(next)}`
        expect(await page.evaluate(`request('${path}').then(({ status }) => status)`)).toBe(401)
      })
      const other = url.replace('localhost', '127.0.0.1')
      await context.route(`${other}/**`, (route) =>
        route.fulfill({
          status: 401,
          headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json' },
          body: '{"code":"step_up_required","next":"/mfa"}',
        }),
      )
      expect(await page.evaluate(`request('${other}/x').then(({ status }) => status)`)).toBe(401)
      expect(context.pages()).toHaveLength(1)
    })

    // Chromium tells every page under test that it has the focus.
    it.skipIf(name === 'Chromium')(
      'repeats the request when a pop-up that is cut off was closed',
      async () => {
        const { page, standIn, bodies } = await openShop({ coop: 'same-origin' })
        const popUp = await press(page)
        await expect.poll(() => page.evaluate('document.hasFocus()')).toBe(false)
        await showFactor(popUp, standIn.newestCode)
        await popUp.getByText('Transfer').waitFor()
        expect(bodies).toHaveLength(1)
        await popUp.close()
        await outcome(page).toBe('200 {"done":true}')
      },
    )
  })
})

it('is at most 3 KB of code in a page', async () => {
  const { output } = await build({
    input: new URL('../../src/pages/browser/step-up.ts', import.meta.url).pathname,
    platform: 'browser',
    write: false,
    output: { minify: true, comments: false },
  })
  expect(Buffer.byteLength(output[0].code)).toBeLessThan(3 * 1024)
})
