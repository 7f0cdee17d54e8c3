import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { INBOX_KEY } from '../../example-app/test/kit.js'
import { axeViolations } from '../kit/axe.js'
import { DEAD_END, pageFaults } from '../kit/page-checks.js'
import { appCode } from './kit/authenticator.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeInBrowsersOfApps } from './kit/journey.js'
import { newestCode, passwordStep, press, typeCode } from './kit/vault.js'

const BOB = '+12025550122'
const MALLORY = '+12025550144'
const OTTO_SECRET = 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'

/** A phone, and a screen of 1280 by 800 pixels at a zoom of 200 %. */
const SCREENS = [
  { width: 360, height: 740 },
  { width: 640, height: 400 },
]

const OTHER_LOOKS = [
  { colorScheme: 'dark', contrast: 'no-preference' },
  { colorScheme: 'dark', contrast: 'more' },
  { colorScheme: 'light', contrast: 'more' },
] as const

/** The appearance of Vault's own pages, and of countersign's in its style sheet, in every look. */
describeInBrowsersOfApps('a page of the example app', (app) => {
  let page: Page
  let refused: readonly string[]

  beforeAll(async () => {
    ;({ page, refused } = await newUser(app.browser, { ...LOOKS['phone-light'], reducedMotion: 'reduce' }))
  })

  /** Checks the page that is open, whose content leads on unless it says otherwise. */
  async function expectAccessible(...expected: string[]): Promise<void> {
    await page.emulateMedia({ colorScheme: 'light', contrast: 'no-preference' })
    // The rules of axe are about the document and its colors, which are the same in each browser.
    if (app.canChangeLooks) expect(await axeViolations(page)).toEqual([])
    for (const look of app.canChangeLooks ? OTHER_LOOKS : []) {
      await page.emulateMedia(look)
      expect(await axeViolations(page, 'color-contrast')).toEqual([])
    }
    for (const screen of SCREENS) {
      await page.setViewportSize(screen)
      expect(await pageFaults(page, { hasMenu: true })).toEqual(expected)
    }
    expect(refused).toEqual([])
  }

  it.each(['/', '/login', '/nowhere', `/inbox?key=${INBOX_KEY}`])(
    'is accessible without a sign-in: %s',
    async (path) => {
      await page.goto(app.url + path)
      await expectAccessible()
    },
  )

  it('is accessible during a sign-in and after it, and shows a wrong entry beside its field', async () => {
    await page.goto(`${app.url}/login`)
    await page.getByLabel('User name').fill('bob')
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').waitFor()
    await expectAccessible()
    await passwordStep(page, app.url, 'bob')
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, '000000')
    await expectAccessible()
    await typeCode(page, await newestCode(app.url, BOB, 'sms'))

    const paths = ['/vault', '/account', '/phone', '/password', '/transcribe', '/mfa', '/mfa/enroll-app']
    for (const path of paths) {
      await page.goto(app.url + path)
      expect(new URL(page.url()).pathname).toBe(path)
      await expectAccessible()
    }
  })

  it('has its cards beside each other at one height on a desktop, and its header in one line on a phone', async () => {
    for (const path of ['/', '/account', '/vault']) {
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(app.url + path)
      const tops = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.grid > .card')].slice(0, 2).map((card) => card.getBoundingClientRect().top)`,
      )
      expect(tops).toEqual([tops[0], tops[0]])
      await page.setViewportSize({ width: 390, height: 844 })
      const header = await page.evaluate<number>(
        `document.querySelector('header').getBoundingClientRect().height`,
      )
      expect(`${path} ${Math.round(header)}`).toBe(`${path} 74`)
    }
  })

  it('offers all languages in one menu of its footer, which opens without a script', async () => {
    await page.goto(`${app.url}/`)
    const menu = page.locator('footer details')
    expect(await menu.locator('summary').innerText()).toBe('Language of two-step verification: English')
    const height = await page.evaluate<number>(
      `document.querySelector('footer').getBoundingClientRect().height`,
    )
    expect(height).toBeLessThan(150)
    expect(await page.getByRole('button', { name: 'Deutsch' }).isVisible()).toBe(false)
    await menu.locator('summary').click()
    expect(await menu.getByRole('button').count()).toBe(14)
    await expectAccessible()
  })

  it('keeps the form in sight when an entry is wrong, and a reload posts nothing', async () => {
    const wrong = async (path: string, entries: Record<string, string>, button: string, text: string) => {
      await page.goto(app.url + path)
      for (const [label, value] of Object.entries(entries)) await page.getByLabel(label).fill(value)
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('alert').waitFor()
      expect(await page.getByRole('alert').textContent()).toContain(text)
      expect(new URL(page.url()).pathname).toBe(path)
      expect(await page.getByRole('button', { name: button }).count()).toBe(1)
      await expectAccessible()
      await snap(page, `wrong-entry${path.replace('/', '-')}`)
      await page.reload()
      expect(await page.getByRole('alert').count()).toBe(0)
    }
    const passwords = { 'Current password': 'wrong', 'New password': 'a better password' }
    await wrong('/password', passwords, 'Change password', 'That is not your current password.')
    await wrong('/phone', { 'Phone number': '555' }, 'Send a code', 'Phone must be a phone number')
    await page.goto(`${app.url}/phone`)
    await page.getByLabel('Phone number').fill('+12025550199')
    await page.getByRole('button', { name: 'Send a code' }).click()
    await wrong('/phone', { Code: '000000' }, 'Confirm', 'The code is wrong or has expired.')
  })

  it('is accessible to staff, to whom the help desk and a customer’s pages lead on or say how to go back', async () => {
    await page.context().clearCookies()
    await passwordStep(page, app.url, 'otto', '/account')
    await page.goto(`${app.url}/mfa/verify?factor=app`)
    await typeCode(page, appCode(OTTO_SECRET))
    await page.goto(`${app.url}/admin`)
    await expectAccessible()
    const fill = async (button: string, username: string) => {
      const form = page.locator('form', { has: page.getByRole('button', { name: button }) })
      await form.getByLabel('User name').fill(username)
      await form.getByLabel('Reason').fill('Ticket 4711')
      await press(page, button)
    }
    await fill('Request approval', 'bobby')
    await page.getByText('There is no user of this name.').waitFor()
    await expectAccessible()
    await fill('Request approval', 'mallory')
    await page.getByText('Your request waits for the approval of a colleague.').waitFor()
    await expectAccessible()

    await fill('Act for the customer', 'bob')
    for (const path of ['/account', '/vault']) {
      await page.goto(app.url + path)
      // Staff do nothing here that needs a factor. What is above the content leads them back.
      await expectAccessible(DEAD_END)
      await page.getByRole('button', { name: 'Back to your own account' }).waitFor()
    }
    for (const path of ['/', '/mfa', '/admin']) {
      await page.goto(app.url + path)
      await expectAccessible()
    }
    await press(page, 'Back to your own account')
    await expectAccessible()
  })

  it('says where the backup codes are that Vault shows on a page', async () => {
    await page.context().clearCookies()
    await page.goto(`${app.url}/`)
    const text = await page.getByRole('main').innerText()
    expect(text).toContain('sign in with one of the backup codes you saved')
    expect(text).not.toMatch(/backup code from your email/)
  })

  it('leads on while the service is down', async () => {
    await page.context().clearCookies()
    await passwordStep(page, app.url, 'mallory', '/account')
    await press(page, /Text a code/)
    await typeCode(page, await newestCode(app.url, MALLORY, 'sms'))
    await app.stopService()
    const statuses = {
      '/account': 200,
      '/vault': 200,
      '/mfa': 503,
      '/mfa/enroll-app': 503,
      '/mfa/backup': 503,
    }
    for (const [path, status] of Object.entries(statuses)) {
      expect([path, (await page.goto(app.url + path))?.status()]).toEqual([path, status])
      await expectAccessible()
    }
    await page.context().clearCookies()
    await passwordStep(page, app.url, 'bob', '/account')
    expect(await page.getByRole('main').innerText()).toContain('It’s not your fault')
    await expectAccessible()
  })
})
