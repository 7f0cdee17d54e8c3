import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney } from './kit/journey.js'
import { newestCode, passwordStep, typeCode } from './kit/vault.js'

const USERS = [
  { name: 'bob', phone: '+12025550122', javaScriptEnabled: true },
  { name: 'mallory', phone: '+12025550144', javaScriptEnabled: false },
] as const

const signOut = async (page: Page) => {
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForLoadState()
}

describeJourney('a trusted browser in the example app', (app) => {
  it.each(USERS)(
    'lets $name sign in by password alone, until it is removed (scripts: $javaScriptEnabled)',
    async ({ name, phone, javaScriptEnabled }) => {
      const { page, context } = await newUser(app.browser, { ...LOOKS['phone-light'], javaScriptEnabled })
      await passwordStep(page, app.url, name)
      await page.getByRole('button', { name: /Text a code/ }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await page.getByLabel(/Trust this browser for 30 days/).check()
      await snap(page, `${name}-trust`)
      await typeCode(page, await newestCode(app.url, phone, 'sms'))
      expect(page.url()).toBe(`${app.url}/vault`)

      for (const _ of ['second', 'third']) {
        await signOut(page)
        await passwordStep(page, app.url, name)
        expect(page.url()).toBe(`${app.url}/vault`)
      }

      await page.goto(`${app.url}/account`)
      await page.getByRole('link', { name: 'Trusted browsers' }).click()
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
