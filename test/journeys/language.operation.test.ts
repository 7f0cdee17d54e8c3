import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { axeViolations } from '../kit/axe.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney } from './kit/journey.js'
import { codeIn, messagesTo, passwordStep, press } from './kit/vault.js'

const USERS = [
  { name: 'bob', phone: '+12025550122', javaScriptEnabled: true },
  { name: 'mallory', phone: '+12025550144', javaScriptEnabled: false },
] as const

describeJourney('the language switch of the example app', (app) => {
  const languageOf = (page: Page) => page.locator('html').getAttribute('lang')
  const currentLanguage = (page: Page) => page.locator('button[aria-current="true"]').textContent()

  async function choose(page: Page, name: string): Promise<void> {
    const menu = page.locator('summary', { hasText: ':' })
    if ((await menu.count()) > 0) await menu.click()
    await press(page, new RegExp(`^${name}$`))
  }

  it.each(USERS)(
    'changes the language of pages and messages for $name during the sign-in (scripts: $javaScriptEnabled)',
    async ({ name, phone, javaScriptEnabled }) => {
      const { page, context } = await newUser(app.browser, { ...LOOKS['phone-light'], javaScriptEnabled })
      await passwordStep(page, app.url, name)
      expect([await languageOf(page), await currentLanguage(page)]).toEqual(['en', 'English'])
      await snap(page, `${name}-choose-english`)

      await choose(page, 'Deutsch')
      expect(new URL(page.url()).pathname).toBe('/mfa')
      expect([await languageOf(page), await currentLanguage(page)]).toEqual(['de', 'Deutsch'])
      if (javaScriptEnabled) expect(await axeViolations(page)).toEqual([])
      await snap(page, `${name}-choose-german`)

      await page.getByRole('button', { name: /••• / }).click()
      await page.waitForURL(/\/mfa\/verify/)
      const [message] = await messagesTo(app.url, phone)
      expect(message?.text).toMatch(/Ihr|Code/)
      expect(message?.text).not.toMatch(/Your|sign in/)

      await choose(page, '日本語')
      expect(new URL(page.url()).pathname).toBe('/mfa/verify')
      expect([await languageOf(page), await currentLanguage(page)]).toEqual(['ja', '日本語'])
      if (javaScriptEnabled) expect(await axeViolations(page)).toEqual([])
      await snap(page, `${name}-code-japanese`)

      // The code that was sent before is still accepted.
      const answered = page.waitForURL(`${app.url}/vault`)
      await page.getByRole('textbox').fill(codeIn(message?.text ?? ''))
      await page.getByRole('textbox').press('Enter')
      await answered
      expect(await currentLanguage(page)).toBe('日本語')
      await page.locator('footer summary').click()
      await snap(page, `${name}-vault-footer`)
      await context.close()
    },
  )

  it('starts with the first language of the browser that is offered', async () => {
    const { page, context } = await newUser(app.browser, { ...LOOKS['desktop-light'], locale: 'fr-CA' })
    await passwordStep(page, app.url, 'walt')
    expect([await languageOf(page), await currentLanguage(page)]).toEqual(['fr', 'Français'])
    await snap(page, 'walt-choose-french')
    await context.close()
  })
})
