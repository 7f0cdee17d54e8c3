import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { axeViolations } from '../kit/axe.js'
import { DAY, SECOND, stopClock } from '../kit/clock.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeInBrowsersOfApps } from './kit/journey.js'
import { newestCode, openInbox, passwordStep, typeCode } from './kit/vault.js'

const PHONE = '+12025550111'
const LOST_ACCESS = 'Lost access to your app or phone?'

describeInBrowsersOfApps('account recovery in the example app (R94)', (app) => {
  async function confirmByText(page: Page): Promise<void> {
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(app.url, PHONE, 'sms'))
  }

  async function seen(page: Page, name: string): Promise<void> {
    expect(await axeViolations(page)).toEqual([])
    await snap(page, `recovery-${name}`)
  }

  it('is stopped on the phone by the link in the text message', async () => {
    const { page } = await newUser(app.browser, LOOKS['desktop-dark'])
    await passwordStep(page, app.url, 'alice')
    await page.getByRole('link', { name: LOST_ACCESS }).click()
    await page.getByRole('button', { name: 'Request recovery' }).click()
    await page.waitForURL(/\/mfa\?choose$/)
    await page.getByRole('button', { name: /Email a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(app.url, 'alice@vault.example', 'email'))
    await page.getByRole('heading', { name: 'Your recovery is waiting' }).waitFor()

    const { page: phone } = await newUser(app.browser, { ...LOOKS['phone-light'], javaScriptEnabled: false })
    await openInbox(phone, app.url, PHONE)
    await phone
      .getByRole('link', { name: /\/mfa\/cancel-recovery\?token=/ })
      .first()
      .click()
    await phone.getByRole('button', { name: 'Cancel the recovery' }).click()
    await phone.getByRole('heading', { name: 'The recovery is canceled' }).waitFor()
    await snap(phone, 'recovery-canceled')
    await page.reload()
    await page.getByRole('heading', { name: 'Recover your account' }).waitFor()
  })

  it('lets a user who lost the authenticator app set up a new one after the waiting period', async () => {
    const clock = stopClock()
    const { page } = await newUser(app.browser, LOOKS['phone-dark'])
    await passwordStep(page, app.url, 'alice')
    await snap(page, 'recovery-link')
    await page.getByRole('link', { name: LOST_ACCESS }).click()
    await page.getByRole('heading', { name: 'Recover your account' }).waitFor()
    await seen(page, 'start')
    await page.getByRole('button', { name: 'Request recovery' }).click()
    await page.waitForURL(/\/mfa\?choose$/)
    await page.getByText('with an option that you still have').waitFor()
    await seen(page, 'choose')
    await confirmByText(page)
    await page.getByRole('heading', { name: 'Your recovery is waiting' }).waitFor()
    await seen(page, 'waiting')

    const { page: phone } = await newUser(app.browser, LOOKS['phone-light'])
    clock.move(DAY / 2)
    await phone.goto(`${app.url}/login`)
    await expect
      .poll(async () => {
        await openInbox(phone, app.url, PHONE)
        return phone.getByText('still waiting').count()
      })
      .toBeGreaterThan(0)
    await snap(phone, 'recovery-messages')
    const link = phone.getByRole('link', { name: /\/mfa\/cancel-recovery\?token=/ }).first()
    await phone.goto((await link.getAttribute('href')) ?? '')
    await phone.getByRole('heading', { name: 'Cancel the account recovery?' }).waitFor()
    await seen(phone, 'cancel')

    clock.move(DAY / 2)
    const { page: later } = await newUser(app.browser, LOOKS['phone-dark'])
    await passwordStep(later, app.url, 'alice')
    await confirmByText(later)
    await later.getByRole('heading', { name: 'Your recovery is ready' }).waitFor()
    await seen(later, 'ready')
    await later.getByRole('button', { name: 'Set up a new option' }).click()
    await later.waitForURL(/\/mfa\/enroll-app$/)
    await snap(later, 'recovery-enroll')
    await later.goto(`${app.url}/vault`)
    expect(new URL(later.url()).pathname).toBe('/mfa/enroll-app')

    await phone.getByRole('button', { name: 'Cancel the recovery' }).click()
    await phone.getByRole('heading', { name: /no longer works/ }).waitFor()
    clock.move(SECOND)
  })
})
