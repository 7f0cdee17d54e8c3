import { createServer } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mfaTestKit } from '../../src/testing/index.js'
import { totpCode } from '../../src/testing/service.js'
import { BROWSERS } from '../kit/browsers.js'
import { host } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { PATIENCE_MS } from '../kit/patience.js'

/** An app whose user has to set up an authenticator app. */
async function serveApp() {
  const { service } = mfaTestKit()
  const { app } = host({
    options: { service, policy: () => 'require' },
    first: (app) => {
      app.get('/sign-in', (_req, res) => {
        res.send(
          '<!doctype html><title>Shop</title><form method="post" action="/login"><button name="name" value="nina">Sign in</button></form>',
        )
      })
    },
  })
  const server = createServer(app)
  const url = `http://localhost:${await listenOnLoopback(server)}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url, close }
}

describe.each(BROWSERS)(
  'in $name, a user who presses "Set up" twice (R53, R54)',
  ({ name, isThere, open }) => {
    describe.skipIf(!isThere)('in one browser and in another', () => {
      let browser: Browser
      let site: Awaited<ReturnType<typeof serveApp>>
      beforeAll(async () => {
        browser = await open()
      }, PATIENCE_MS)
      afterAll(() => browser?.close())

      /** A page of a browser of its own, in which the user typed the password. */
      async function signedInPage(scripts: boolean): Promise<Page> {
        const context = await browser.newContext(scripts ? {} : { javaScriptEnabled: false })
        context.setDefaultTimeout(PATIENCE_MS)
        const page = await context.newPage()
        await page.goto(`${site.url}/sign-in`)
        await page.getByRole('button').click()
        await page.waitForURL(/\/login$/)
        return page
      }

      async function press(page: Page): Promise<string> {
        await page.goto(`${site.url}/mfa/enroll-app`)
        await page.locator('form[action$="/enroll-app"] button').click()
        await page.waitForURL(/\/confirm$/)
        return secretOn(page)
      }

      const secretOn = async (page: Page) =>
        ((await page.locator('.mfa-secret').textContent()) ?? '').replaceAll(/\s/g, '')

      /** Scripts send a complete code by themselves. */
      async function enter(page: Page, code: string, scripts: boolean) {
        await page.locator('input[name=code]').fill(code)
        const button = page.locator('form:has(input[name=code]) button').first()
        if (!scripts) await button.click()
      }

      it.each(name === 'Chromium' ? [true, false] : [true])(
        'sees the same QR code, or that it was replaced, and goes on (scripts: %s)',
        async (scripts) => {
          site = await serveApp()
          const [first, other] = [await signedInPage(scripts), await signedInPage(scripts)]
          const secret = await press(first)
          expect(await press(first)).toBe(secret)
          const newer = await press(other)
          expect(newer).not.toBe(secret)

          await enter(first, totpCode(secret), scripts)
          await first.getByRole('alert').filter({ hasText: 'This QR code was replaced' }).waitFor()
          expect(await first.locator('input[name=code]').count()).toBe(0)
          await first.locator('form[action$="/enroll-app"] button').click()
          await first.waitForURL(/\/confirm$/)
          const newest = await secretOn(first)

          await other.reload()
          await other.getByRole('alert').filter({ hasText: 'This QR code was replaced' }).waitFor()
          await enter(first, totpCode(newest), scripts)
          await first.waitForURL(/\/enroll-app\/done$/)
          for (const page of [first, other]) await page.context().close()
          site.close()
        },
        PATIENCE_MS,
      )
    })
  },
)
