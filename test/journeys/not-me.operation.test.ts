import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { axeViolations } from '../kit/axe.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney } from './kit/journey.js'
import { newestCode, openInbox, passwordStep, typeCode } from './kit/vault.js'

const USERS = [
  { name: 'bob', phone: '+12025550122', javaScriptEnabled: true },
  { name: 'mallory', phone: '+12025550144', javaScriptEnabled: false },
] as const

describeJourney('the "this wasn’t me" link in the example app', (app) => {
  async function signIn(page: Page, name: string, phone: string, trust: boolean): Promise<void> {
    await passwordStep(page, app.url, name)
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    if (trust) await page.getByLabel(/Trust this browser/).check()
    await typeCode(page, await newestCode(app.url, phone, 'sms'))
    expect(page.url()).toBe(`${app.url}/vault`)
  }

  it.each(USERS)(
    'lets $name sign out every session and trusted browser (scripts: $javaScriptEnabled)',
    async ({ name, phone, javaScriptEnabled }) => {
      // An intruder has signed in and trusts the app.browser, which a notice reports.
      const intruder = await newUser(app.browser, LOOKS['desktop-light'])
      await signIn(intruder.page, name, phone, true)

      const { page, context } = await newUser(app.browser, { ...LOOKS['phone-light'], javaScriptEnabled })
      await openInbox(page, app.url, `${name}@vault.example`)
      await page.getByText('Vault: new trusted browser').waitFor()
      await snap(page, `${name}-notice`)
      const link = page.getByRole('link', { name: /\/mfa\/not-me\?token=/ }).first()
      const address = (await link.getAttribute('href')) ?? ''
      await link.click()
      await page.getByRole('heading', { name: 'Secure your account' }).waitFor()
      if (javaScriptEnabled) expect(await axeViolations(page)).toEqual([])
      await snap(page, `${name}-not-me`)
      // Opening the page has ended nothing.
      await intruder.page.goto(`${app.url}/account`)
      expect(intruder.page.url()).toBe(`${app.url}/account`)

      await page.getByRole('button', { name: /It wasn’t me/ }).click()
      await page.getByRole('heading', { name: 'Everyone is signed out' }).waitFor()
      if (javaScriptEnabled) expect(await axeViolations(page)).toEqual([])
      await snap(page, `${name}-secured`)

      // The intruder is signed out, and the browser is asked for a second factor again.
      await intruder.page.goto(`${app.url}/account`)
      expect(new URL(intruder.page.url()).pathname).toBe('/login')
      await passwordStep(intruder.page, app.url, name)
      expect(new URL(intruder.page.url()).pathname).toBe('/mfa')

      await page.goto(address)
      await page.getByRole('heading', { name: /no longer works/ }).waitFor()
      if (javaScriptEnabled) expect(await axeViolations(page)).toEqual([])
      await expect.poll(() => page.getByRole('link', { name: 'Sign in' }).isVisible()).toBe(true)
      await snap(page, `${name}-link-is-used`)

      // A notice says how to sign in again.
      await openInbox(page, app.url, `${name}@vault.example`)
      await page.getByText('Vault: your account was secured').waitFor()
      await intruder.context.close()
      await context.close()
    },
  )
})
