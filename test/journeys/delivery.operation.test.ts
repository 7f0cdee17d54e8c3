import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axeViolations } from '../kit/axe.js'
import { hasBrowser } from '../kit/chromium.js'
import { PATIENCE_MS } from '../kit/patience.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { type Gateway, openGateway } from './kit/gateway.js'
import { type Journey, openJourney } from './kit/journey.js'
import { passwordStep } from './kit/vault.js'

describe.skipIf(!hasBrowser)('a code that is not sent at once', () => {
  let journey: Journey
  let url: string
  let browser: Browser
  let gateway: Gateway

  beforeAll(async () => {
    gateway = await openGateway()
    journey = await openJourney({ SERVICE_DELIVERY: gateway.url })
    ;({ url, browser } = journey)
  })

  afterAll(async () => {
    await journey.close()
    await gateway.close()
  })

  /** Signs in with the password and requests a code while the gateway is down. */
  async function requestQueuedCode(page: Page, name: string, factor: RegExp): Promise<void> {
    gateway.answer(503)
    await passwordStep(page, url, name)
    await page.getByRole('button', { name: factor }).first().click()
    await page.waitForURL(/\/mfa\/verify/)
    await page.getByText(/is waiting to be sent/).waitFor()
  }

  it('is shown to walt as undelivered without a reload, with a call as another factor', async () => {
    const { page, context } = await newUser(browser, LOOKS['phone-light'])
    await requestQueuedCode(page, 'walt', /by WhatsApp/)
    await page.getByRole('textbox').fill('12')
    await snap(page, 'walt-queued')
    gateway.answer(422)
    await page.getByText(/could not be delivered/).waitFor()
    expect(await page.getByRole('textbox').inputValue()).toBe('12')
    expect(await page.evaluate('document.activeElement.id')).toBe('mfa-code')
    await expect.poll(() => page.getByRole('button', { name: /^Call/ }).isVisible()).toBe(true)
    expect(await axeViolations(page)).toEqual([])
    await snap(page, 'walt-refused')
    await context.close()
  })

  it.each([true, false])(
    'leads walt to his other factors when no carrier accepts it (scripts: %s)',
    async (javaScriptEnabled) => {
      const { page, context } = await newUser(browser, { ...LOOKS['phone-light'], javaScriptEnabled })
      gateway.answer(400)
      await passwordStep(page, url, 'walt')
      await page.getByRole('button', { name: /by WhatsApp/ }).click()
      await page.getByText('The code could not be delivered').waitFor()
      if (javaScriptEnabled) expect(await axeViolations(page)).toEqual([])
      await snap(page, 'walt-not-delivered')
      gateway.answer(200)
      await page.getByRole('button', { name: /^Call/ }).click()
      await page.getByText(/We are calling/).waitFor()
      await context.close()
    },
  )

  it('is shown to bob as sent without a reload', async () => {
    const { page, context } = await newUser(browser, LOOKS['desktop-light'])
    await requestQueuedCode(page, 'bob', /Text a code/)
    gateway.answer(200)
    await page.getByText('We texted a verification code to ••• 22.').waitFor()
    await context.close()
  })

  it('is shown to mallory as undelivered after a reload, without scripts, and without backup codes, as there are none', async () => {
    const { page, context } = await newUser(browser, { ...LOOKS['phone-dark'], javaScriptEnabled: false })
    await requestQueuedCode(page, 'mallory', /Text a code/)
    gateway.answer(422)
    await expect
      .poll(
        async () => {
          await page.reload()
          return page.locator('#mfa-lead').textContent()
        },
        { timeout: PATIENCE_MS, interval: 1_000 },
      )
      .toContain('could not be delivered')
    // With one factor, a recovery cannot be requested.
    expect(await page.getByRole('link', { name: 'Lost access to your app or phone?' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: /backup code/i }).count()).toBe(0)
    await context.close()
  })
})
