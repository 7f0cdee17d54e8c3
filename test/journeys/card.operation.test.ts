import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSERS_OF_APPS } from '../kit/browsers.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { newUser } from './kit/browser.js'
import { type Journey, openJourney } from './kit/journey.js'
import { newestCode, passwordStep, typeCode } from './kit/vault.js'

const BOB = '+12025550122'

describe.each(BROWSERS_OF_APPS)('the card number of the example app, in $name', ({ isThere, open }) => {
  describe.skipIf(!isThere)('without a reload', () => {
    let journey: Journey
    beforeAll(async () => {
      journey = await openJourney({}, open)
    })
    afterAll(() => journey?.close())

    it('is shown after a fresh code in a pop-up, and not after the user closed it', async () => {
      const { url, browser } = journey
      const clock = stopClock()
      const { page, context } = await newUser(browser, {})
      await passwordStep(page, url, 'bob')
      await page.getByRole('button', { name: /Text a code/ }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await typeCode(page, await newestCode(url, BOB, 'sms'))

      clock.move(6 * MINUTE)
      const press = () =>
        Promise.all([
          page.waitForEvent('popup'),
          page.getByRole('button', { name: 'Show the number' }).click(),
        ])
      const [canceled] = await press()
      await canceled.getByRole('button', { name: /^Text a code/ }).waitFor()
      await canceled.close()
      await page.getByText('You canceled.').waitFor()
      expect(await page.locator('#card').textContent()).toBe('•••• •••• •••• 4242')

      const [popUp] = await press()
      await popUp.getByRole('button', { name: /^Text a code/ }).click()
      await popUp.waitForURL(/\/mfa\/verify/)
      await popUp.getByRole('textbox').fill(await newestCode(url, BOB, 'sms'))
      await page.getByText('4242 4242 4242 4242').waitFor()
      await context.close()
    })
  })
})
