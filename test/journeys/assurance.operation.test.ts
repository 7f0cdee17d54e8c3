import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { virtualAuthenticators } from '../browser/virtual-authenticator.js'
import { axeViolations } from '../kit/axe.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { appCode } from './kit/authenticator.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney } from './kit/journey.js'
import { messagesTo, newestCode, passwordStep, press, typeCode } from './kit/vault.js'

const ALICE_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const BOB = '+12025550122'
const KIM = '+12025550166'

const pathOf = (page: Page) => new URL(page.url()).pathname

describeJourney('sign-in assurance in the example app', (app) => {
  /** Signs in at the identity provider, which opens by itself for a step-up. */
  async function atProvider(page: Page, name: string, factor: string | RegExp): Promise<void> {
    await page.getByRole('heading', { name: 'Vault ID' }).waitFor()
    expect(await axeViolations(page)).toEqual([])
    await page.getByLabel('User').selectOption(name)
    await press(page, factor)
  }

  it('counts the second factor of the identity provider, and asks for one of the account to approve a withdrawal (R109, R121)', async () => {
    const clock = stopClock()
    const { page, context } = await newUser(app.browser, LOOKS['phone-dark'])
    await page.goto(`${app.url}/vault`)
    await page.getByRole('link', { name: 'Sign in with Vault ID' }).click()
    await snap(page, 'vault-id')
    await atProvider(page, 'bob', /with a second factor/)
    expect(pathOf(page)).toBe('/vault')

    clock.move(6 * MINUTE)
    await page.getByLabel(/Withdraw/).fill('20')
    await press(page, 'Withdraw')
    expect(pathOf(page)).toBe('/mfa')
    expect(await page.getByRole('main').textContent()).toMatch(/Withdraw\s*\$20/)
    await press(page, /^Text a code/)
    await typeCode(page, await newestCode(app.url, BOB, 'sms'))
    await page.waitForURL(/\/vault$/)
    expect(await page.getByRole('main').textContent()).toContain('$20')
    await context.close()
  })

  it('leads back to the sign-in of Vault if the user cancels at the provider', async () => {
    const { page, context } = await newUser(app.browser)
    await page.goto(`${app.url}/login`)
    await page.getByRole('link', { name: 'Sign in with Vault ID' }).click()
    await atProvider(page, 'bob', 'Cancel')
    expect(pathOf(page)).toBe('/login')
    await page.getByLabel('User name').waitFor()
    await context.close()
  })

  it('asks for a factor of the account if the provider did not', async () => {
    const { page, context } = await newUser(app.browser, LOOKS['desktop-light'])
    await page.goto(`${app.url}/login`)
    await page.getByRole('link', { name: 'Sign in with Vault ID' }).click()
    await atProvider(page, 'bob', /with the password only/)
    expect(pathOf(page)).toBe('/mfa')
    await page.goto(`${app.url}/vault`)
    expect(pathOf(page)).toBe('/mfa')
    await context.close()
  })

  it('leads an administrator from a text message to a passkey, and signs her in with it (R115)', async () => {
    const clock = stopClock()
    const { page, context } = await newUser(app.browser, LOOKS['phone-light'])
    const phone = await (await virtualAuthenticators(page)).add()
    await passwordStep(page, app.url, 'kim', '/account')
    await press(page, /Text a code/)
    await typeCode(page, await newestCode(app.url, KIM, 'sms'))
    expect(pathOf(page)).toBe('/mfa/keys')
    expect(await page.getByRole('main').textContent()).toContain('Vault requires a stronger sign-in option')
    expect(await axeViolations(page)).toEqual([])
    await snap(page, 'kim-must-add-a-key')
    await page.goto(`${app.url}/account`)
    expect(pathOf(page)).toBe('/mfa/keys')
    await expect
      .poll(async () => (await messagesTo(app.url, 'kim@vault.example')).map(({ text }) => text).join())
      .toContain('can now set one up')

    // A device without a passkey of its own cannot go on, and the page says how to.
    await phone.touch(false)
    await page.getByRole('button', { name: 'Add a passkey' }).waitFor()
    await phone.touch(true)
    await press(page, 'Add a passkey')
    await page.getByRole('link', { name: 'Continue to Vault' }).click()
    await page.waitForURL(/\/account$/)
    await press(page, 'Sign out')

    clock.move(SECOND)
    await passwordStep(page, app.url, 'kim', '/account')
    expect(await page.getByRole('heading').first().textContent()).toBe('Use your passkey')
    await page.goto(`${app.url}/mfa?choose`)
    expect(await page.getByRole('main').textContent()).not.toContain('Text a code')
    await page.goto(`${app.url}/mfa`)
    await press(page, 'Continue')
    expect(pathOf(page)).toBe('/account')
    await context.close()
  })

  it('lets staff act for a customer, and do nothing that needs a factor (R117, R118)', async () => {
    stopClock()
    const { page, context } = await newUser(app.browser, LOOKS['desktop-dark'])
    await passwordStep(page, app.url, 'alice', '/admin')
    await page.goto(`${app.url}/mfa/verify?factor=app`)
    await typeCode(page, appCode(ALICE_SECRET))
    await page.goto(`${app.url}/admin`)
    const form = page.locator('form', { has: page.getByRole('button', { name: 'Act for the customer' }) })
    await form.getByLabel('User name').fill('bob')
    await form.getByLabel('Reason').fill('Ticket 4711')
    await press(page, 'Act for the customer')
    expect(pathOf(page)).toBe('/account')
    expect(await page.locator('body').textContent()).toContain('You are acting for Bob.')
    expect(await axeViolations(page)).toEqual([])
    await snap(page, 'acting-for-bob')
    for (const link of ['Change phone number', 'Change password', 'Manage two-step verification']) {
      expect(await page.getByRole('link', { name: link }).count()).toBe(0)
    }
    await page.goto(`${app.url}/vault`)
    expect(await page.getByLabel(/Withdraw/).count()).toBe(0)
    await page.goto(`${app.url}/mfa`)
    expect(await page.getByRole('main').textContent()).toContain('You are acting for someone else')
    await snap(page, 'acting-mfa')
    await press(page, 'Back to your own account')
    expect(pathOf(page)).toBe('/')
    expect(await page.locator('body').textContent()).not.toContain('You are acting for')
    await context.close()
  })
})
