import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { virtualAuthenticators } from '../browser/virtual-authenticator.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney } from './kit/journey.js'
import { newestCode, passwordOf, passwordStep, press, typeCode } from './kit/vault.js'

const pathOf = (page: Page) => new URL(page.url()).pathname

/** Confirms with the passkey, which leads to a path. */
async function useKey(page: Page, path: RegExp): Promise<void> {
  const left = page.waitForURL(path)
  // The page may be gone before the browser reports the click, which would be tried once more on the next page.
  await Promise.race([left, page.getByRole('button', { name: 'Continue' }).click()])
  await left
}

describeJourney('a user with a passkey and a phone number (R136)', (app) => {
  const SIZES = [
    {
      look: 'phone-light',
      user: 'bob',
      button: /Text a code/,
      channel: 'sms',
      old: '22',
      next: '+12025550166',
    },
    {
      look: 'desktop-light',
      user: 'walt',
      button: /WhatsApp/,
      channel: 'whatsapp',
      old: '55',
      next: '+12025550177',
    },
  ] as const

  it.each(SIZES)(
    'is asked for the passkey before the phone number and the password change: $look',
    async ({ look, user, button, channel, old, next }) => {
      const clock = stopClock()
      const { page } = await newUser(app.browser, LOOKS[look])
      await (await virtualAuthenticators(page)).add()
      const shot = (name: string) => snap(page, `contact-${look}-${name}`)

      await passwordStep(page, app.url, user, '/account')
      if (pathOf(page) === '/mfa') await page.getByRole('button', { name: button }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await typeCode(page, await newestCode(app.url, `+120255501${old}`, channel))
      await page.goto(`${app.url}/mfa/keys`)
      await press(page, 'Add a passkey')
      expect(pathOf(page)).toBe('/mfa')
      expect(await page.getByRole('main').textContent()).toContain('Add a passkey')
      clock.move(MINUTE)
      await page.getByRole('button', { name: button }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await typeCode(page, await newestCode(app.url, `+120255501${old}`, channel))
      expect(pathOf(page)).toBe('/mfa/keys')
      await press(page, 'Add a passkey')
      clock.move(6 * MINUTE)
      await page.goto(`${app.url}/account`)
      await shot('1-account')

      await page.getByRole('link', { name: 'Change phone number' }).click()
      await page.waitForLoadState()
      expect(pathOf(page)).toMatch(/^\/mfa/)
      await shot('2-step-up')
      expect(await page.content()).not.toContain(`••• ${old}`)
      await useKey(page, /\/phone$/)
      await shot('3-phone')

      clock.move(4 * MINUTE)
      await page.getByLabel('Phone number').fill(next)
      await press(page, 'Send a code')
      await shot('4-code')
      await page.getByLabel('Code').fill('000000')
      await press(page, 'Confirm')
      await shot('5-wrong-code')

      // Six minutes after the passkey, and two after the code: the passkey is asked for again, and the number still waits for the code.
      const code = await newestCode(app.url, next, 'sms')
      clock.move(2 * MINUTE)
      await page.getByLabel('Code').fill(code)
      await press(page, 'Confirm')
      expect(pathOf(page)).toMatch(/^\/mfa/)
      await useKey(page, /\/phone$/)
      await page.getByLabel('Code').fill(code)
      await press(page, 'Confirm')
      expect(pathOf(page)).toBe('/account')
      expect(await page.getByRole('status').textContent()).toContain('Your phone number is confirmed.')
      await shot('6-confirmed')

      clock.move(6 * MINUTE)
      await page.getByRole('link', { name: 'Change password' }).click()
      await page.waitForLoadState()
      await shot('7-step-up-password')
      await useKey(page, /\/password$/)
      await shot('8-password')
      await page.getByLabel('Current password').fill(passwordOf(user))
      await page.getByLabel('New password').fill('a better password')
      await press(page, 'Change password')
      expect(pathOf(page)).toBe('/account')
      await shot('9-changed')
    },
  )
})
