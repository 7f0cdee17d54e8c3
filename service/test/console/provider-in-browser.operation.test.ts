import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasBrowser, openBrowser } from '../../../test/kit/chromium.js'
import { MINUTE } from '../../../test/kit/clock.js'
import { PATIENCE_MS } from '../../../test/kit/patience.js'
import { advance, listen, stopClock } from '../kit.js'
import { optionsFor, startProvider } from './identity-provider.js'
import { openConsole, type TestConsole } from './kit.js'

describe.skipIf(!hasBrowser)('the identity provider of another origin, in Chromium', () => {
  let console: TestConsole
  let server: Awaited<ReturnType<typeof listen>>
  let provider: Awaited<ReturnType<typeof startProvider>>
  let browser: Awaited<ReturnType<typeof openBrowser>>
  let url = ''
  beforeAll(async () => {
    stopClock()
    server = await listen((asked, response) => console.service.console?.(asked, response))
    url = server.url.replace('127.0.0.1', 'localhost')
    provider = await startProvider('client_secret_post', url)
    console = await openConsole({ ...optionsFor(provider.issuer), url })
    browser = await openBrowser()
  }, PATIENCE_MS)
  afterAll(async () => {
    vi.useRealTimers()
    await browser?.close()
    await server?.close()
    provider?.close()
    await console?.service.close()
  })

  // Chromium applies form-action to every redirect after a form.
  test('is reached by the link of the sign-in and by a form that needs a fresh factor (R106)', async () => {
    provider.signsIn({ sub: 'admin', amr: ['pwd', 'mfa'], claims: { groups: ['board'] } })
    const page = await browser.newPage()
    await page.goto(`${url}/console/sign-in`)
    await page.getByRole('link', { name: 'Sign in with your company' }).click()
    await page.waitForURL(`${url}/console`)

    advance((11 * MINUTE) / 1000)
    const keys = await page.goto(`${url}/console/applications/default/keys`)
    expect(keys?.headers()['content-security-policy']).toContain("form-action 'self'")
    const back = page.waitForResponse((answer) => new URL(answer.url()).pathname.includes('/oidc'))
    await page.locator('main form button').first().click({ noWaitAfter: true })
    await expect.poll(() => provider.seen.at(-1)?.get('max_age')).toBe('600')
    await back
    await page.waitForURL((at) => at.href.startsWith(`${url}/console`) && !at.href.includes('/oidc'))
    // The provider asked again, so the form now does what it says.
    await page.goto(`${url}/console/applications/default/keys`)
    await page.locator('main form button').first().click()
    await page.locator('main code.once').waitFor()
  })
})
