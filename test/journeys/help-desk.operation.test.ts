import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { axeViolations } from '../kit/axe.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney } from './kit/journey.js'
import { messagesTo, openInbox, passwordStep, typeCode } from './kit/vault.js'

describeJourney('the help desk of the example app (R95)', (app) => {
  /** The code that the authenticator app of a seed user shows. */
  async function appCode(page: Page, name: string): Promise<string> {
    await openInbox(page, app.url)
    const text = (await page.locator('main').textContent()) ?? ''
    return new RegExp(`${name}\\s+(\\d{3})\\s(\\d{3})`).exec(text)?.slice(1).join('') ?? ''
  }

  /** Signs a member of staff in and opens the help desk. */
  async function openHelpDesk(name: string): Promise<Page> {
    const { page } = await newUser(app.browser, LOOKS['desktop-light'])
    const code = await appCode(page, name)
    await passwordStep(page, app.url, name, '/account')
    await page.goto(`${app.url}/mfa/verify?factor=app`)
    await typeCode(page, code)
    // Its error names the page that came instead.
    await page.waitForURL(`${app.url}/account`)
    await page.getByRole('link', { name: 'Help desk' }).click()
    await page.getByRole('heading', { name: 'Reset an account' }).waitFor()
    return page
  }

  it('lets staff reset an account when a colleague approves it, and the user in with the code', async () => {
    const clock = stopClock()
    const otto = await openHelpDesk('otto')
    expect(await axeViolations(otto)).toEqual([])
    await snap(otto, 'help-desk-form')
    const request = async (username: string) => {
      const button = otto.getByRole('button', { name: 'Request approval' })
      const form = otto.locator('form', { has: button })
      await form.getByLabel('User name').fill(username)
      await form.getByLabel('Reason').fill('Lost phone, checked by video call')
      await button.click()
    }
    await request('bobby')
    await otto.getByText('There is no user of this name.').waitFor()
    await request('bob')
    // A second try of this test finds the request of the first one, too.
    await otto.getByText('Your request waits for the approval of a colleague.').first().waitFor()
    expect(await otto.getByRole('button', { name: /Approve/ }).count()).toBe(0)
    expect(await axeViolations(otto)).toEqual([])
    await snap(otto, 'help-desk-waiting')

    const alice = await openHelpDesk('alice')
    await snap(alice, 'help-desk-approval')
    expect(await axeViolations(alice)).toEqual([])
    await alice.getByRole('button', { name: 'Approve and reset bob' }).first().click()
    const bypass = await alice.locator('code').textContent()
    expect(bypass).toMatch(/^(\w{4}-){3}\w{4}$/)
    expect(await axeViolations(alice)).toEqual([])
    await snap(alice, 'help-desk-code')
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
