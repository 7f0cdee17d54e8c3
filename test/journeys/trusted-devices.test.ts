import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../kit/chromium.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { type Journey, openJourney } from './kit/journey.js'
import { newestCode, passwordStep, typeCode } from './kit/vault.js'

const USERS = [
  { name: 'bob', phone: '+12025550122', javaScriptEnabled: true },
  { name: 'mallory', phone: '+12025550144', javaScriptEnabled: false },
] as const

const signOut = async (page: Page) => {
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForLoadState()
}

describe.skipIf(!hasBrowser)('a trusted browser in the example app', () => {
  let journey: Journey
  let url: string
  let browser: Browser

  beforeAll(async () => {
    journey = await openJourney()
    ;({ url, browser } = journey)
  })

  afterAll(() => journey.close())

  it.each(USERS)(
    'lets $name sign in by password alone, until it is removed (scripts: $javaScriptEnabled)',
    async ({ name, phone, javaScriptEnabled }) => {
      const { page, context } = await newUser(browser, { ...LOOKS['phone-light'], javaScriptEnabled })
      await passwordStep(page, url, name)
      await page.getByRole('button', { name: /Text a code/ }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await page.getByLabel(/Don’t ask again in this browser for 30 days/).check()
      await snap(page, `${name}-trust`)
      await typeCode(page, await newestCode(url, phone, 'sms'))
      expect(page.url()).toBe(`${url}/vault`)

      for (const _ of ['second', 'third']) {
        await signOut(page)
        await passwordStep(page, url, name)
        expect(page.url()).toBe(`${url}/vault`)
      }

      await page.goto(`${url}/account`)
      await page.getByRole('link', { name: 'Trusted devices' }).click()
      await page.waitForURL(/\/mfa\/devices/)
      await snap(page, `${name}-devices`)
      await page.getByRole('button', { name: /Remove Chrome on/ }).click()
      await page.waitForLoadState()
      // The session relied on the trusted browser alone.
      expect(new URL(page.url()).pathname).toBe('/mfa')
      await context.close()
    },
  )
})
