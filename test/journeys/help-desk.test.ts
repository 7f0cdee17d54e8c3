import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { axeViolations } from '../kit/axe.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney } from './kit/journey.js'
import { messagesTo, passwordStep, typeCode } from './kit/vault.js'

describeJourney('the help desk of the example app (R95)', (app) => {
  /** The code that the authenticator app of a seed user shows. */
  async function appCode(page: Page, name: string): Promise<string> {
    await page.goto(`${app.url}/inbox`)
    const text = (await page.locator('main').textContent()) ?? ''
    return new RegExp(`${name}\\s+(\\d{3})\\s(\\d{3})`).exec(text)?.slice(1).join('') ?? ''
  }

  it('lets staff reset an account with the approval of a colleague, and the user in with the code', async () => {
    const clock = stopClock()
    const { page: staff } = await newUser(app.browser, LOOKS['desktop-light'])
    const code = await appCode(staff, 'otto')
    await passwordStep(staff, app.url, 'otto', '/admin')
    await typeCode(staff, code)
    await staff.goto(`${app.url}/admin`)
    await staff.getByRole('heading', { name: 'Reset an account' }).waitFor()
    expect(await axeViolations(staff)).toEqual([])
    await snap(staff, 'help-desk-form')

    const fill = async (approvedBy: string) => {
      await staff.getByLabel('User name').fill('bob')
      await staff.getByLabel('Reason').fill('Lost phone, checked by video call')
      await staff.getByLabel('Approved by').fill(approvedBy)
      await staff.getByRole('button', { name: 'Reset the account' }).click()
    }
    await fill('otto')
    await staff.getByText('Another member of staff must approve the reset.').waitFor()
    await staff.goto(`${app.url}/admin`)
    await fill('alice')
    const bypass = await staff.locator('code').textContent()
    expect(bypass).toMatch(/^(\w{4}-){3}\w{4}$/)
    expect(await axeViolations(staff)).toEqual([])
    await snap(staff, 'help-desk-code')
    expect((await messagesTo(app.url, '+12025550122'))[0]?.text).toContain('reset the sign-in options')

    clock.move(SECOND)
    const { page: bob } = await newUser(app.browser, LOOKS['phone-dark'])
    await passwordStep(bob, app.url, 'bob')
    await bob.getByRole('heading', { name: 'Enter the code from support' }).waitFor()
    expect(await axeViolations(bob)).toEqual([])
    await snap(bob, 'help-desk-bypass')
    await typeCode(bob, 'AAAA-AAAA-AAAA-AAAA')
    await bob.getByText('Wrong code').first().waitFor()
    expect(await axeViolations(bob)).toEqual([])
    await snap(bob, 'help-desk-wrong-code')
    await typeCode(bob, bypass ?? '')
    await bob.waitForURL(/\/mfa\/enroll-app$/)
    await snap(bob, 'help-desk-enroll')
    await bob.goto(`${app.url}/account`)
    expect(new URL(bob.url()).pathname).toBe('/mfa/enroll-app')
  })
})
