import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { virtualAuthenticators } from '../../../test/browser/virtual-authenticator.js'
import { appCode, scan } from '../../../test/journeys/kit/authenticator.js'
import { LOOKS, newUser, snap } from '../../../test/journeys/kit/browser.js'
import { axeViolations } from '../../../test/kit/axe.js'
import { hasBrowser, openBrowser } from '../../../test/kit/chromium.js'
import { MINUTE, stopClock } from '../../../test/kit/clock.js'
import { PATIENCE_MS } from '../../../test/kit/patience.js'
import type { Role } from '../../src/operator/rights.js'
import { PASSWORD, type ServedConsole, serveConsole } from './kit.js'

/** The pages of an application and those of the whole service, each with a name. */
const pagesOf = (application: string) => {
  const own = `/console/applications/${application}`
  return [
    ['applications', '/console/applications'],
    ['settings', own],
    ['keys', `${own}/keys`],
    ['locked', `${own}/locked`],
    ['messages', `${own}/messages`],
    ['traffic', `${own}/traffic`],
    ['webhook', `${own}/webhook`],
    ['events', `${own}/events`],
    ['inbox', `${own}/inbox`],
    ['consents', '/console/approvals'],
    ['audit', '/console/audit'],
    ['health', '/console/health'],
    ['operators', '/console/operators'],
  ] as const
}

describe.skipIf(!hasBrowser)('the console in a browser (R106)', () => {
  let console: ServedConsole
  let browser: Awaited<ReturnType<typeof openBrowser>>
  let url = ''
  beforeAll(async () => {
    console = await serveConsole({ fourEyes: true })
    url = console.url
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await console?.close()
  })

  /** Checks a page: what axe finds, and that it does not scroll sideways. */
  async function check(page: Page, name: string): Promise<void> {
    expect([name, await axeViolations(page)]).toEqual([name, []])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect([name, Number(overflow) <= 0]).toEqual([name, true])
    if ((page.viewportSize()?.width ?? 0) < 500)
      expect([name, (await linesOfNavigation(page)) <= 1]).toEqual([name, true])
    await snap(page, name)
  }

  /** How many lines the longest navigation of a page takes. */
  const linesOfNavigation = (page: Page) =>
    page.evaluate<number>(`Math.max(...[...document.querySelectorAll('nav'), document.createElement('nav')].map(
      (nav) => new Set([...nav.querySelectorAll('a')].map((link) => link.getBoundingClientRect().top)).size))`)

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  /** Uses the search field of the page that is open. */
  async function find(page: Page, text: string): Promise<void> {
    await page.getByLabel('Account, contact, message id or reference').fill(text)
    await press(page, 'Find')
  }

  /** Chooses the password of an invited operator, who goes on to the second factor. */
  async function acceptInvitation(page: Page, email: string, role: Role = 'admin'): Promise<void> {
    await page.goto(url + (await console.invite(email, role)))
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Password again').fill(PASSWORD)
    await press(page, 'Set the password')
    await page.waitForURL(/enroll-app/)
  }

  async function typePassword(page: Page, email: string): Promise<void> {
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Continue')
  }

  /** Sets up an authenticator app on the page that is open. */
  async function enrollApp(page: Page): Promise<void> {
    await page.waitForURL(/enroll-app/)
    await page.getByRole('button').first().click()
    const { secret, issuer } = await scan(page)
    expect(issuer).toBe('Countersign console')
    await page.locator('[name=code]').fill(appCode(secret))
    await page.waitForURL(/enroll-app\/done/)
    await page.goto(`${url}/console`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  }

  test.each([
    { role: 'viewer', refused: ['inbox', 'consents', 'operators'] },
    { role: 'support', refused: ['operators'] },
  ] as const)(
    'shows every page to an operator with the role $role, except $refused',
    async ({ role, refused }) => {
      const { page, context } = await newUser(browser, LOOKS['phone-light'])
      await acceptInvitation(page, `${role}@example.com`, role)
      await enrollApp(page)
      await check(page, `console-overview-${role}`)
      const seen: string[] = []
      for (const [name, path] of pagesOf('default')) {
        const response = await page.goto(url + path)
        if (response?.status() === 403) seen.push(name)
        else expect([name, response?.status()]).toEqual([name, 200])
        await check(page, `console-${name}-${role}`)
      }
      expect(seen.sort()).toEqual([...refused].sort())
      await context.close()
    },
  )

  test('shows the settings of an application in groups, each of which fits the screen of a phone', async () => {
    const { page, context } = await newUser(browser, { ...LOOKS['phone-light'], javaScriptEnabled: false })
    await page.setViewportSize({ width: 390, height: 844 })
    await acceptInvitation(page, 'group@example.com', 'viewer')
    await page.waitForURL(/enroll-app/)
    await page.getByRole('button').first().click()
    await page.locator('[name=code]').fill(appCode((await scan(page)).secret))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.goto(`${url}/console/applications/default`)
    const height = () => page.evaluate<number>('document.documentElement.scrollHeight')
    const closed = await height()
    expect(closed).toBeLessThan(2 * 844)
    const groups = page.locator('details.group')
    for (const group of await groups.all()) {
      await group.locator('summary').click()
      expect([await group.locator('h2').innerText(), (await height()) - closed <= 844]).toEqual([
        await group.locator('h2').innerText(),
        true,
      ])
      await group.locator('summary').click()
    }
    expect(await groups.count()).toBeGreaterThan(5)
    await context.close()
  })

  test('lets an operator set up a security key at the invitation, sign in with it, and step up with it', async () => {
    const clock = stopClock()
    const { page, context } = await newUser(browser, LOOKS['phone-light'])
    const authenticators = await virtualAuthenticators(page)
    await authenticators.add({
      transport: 'usb',
      hasResidentKey: false,
      hasUserVerification: false,
      synced: false,
    })
    await acceptInvitation(page, 'kim@example.com')
    await page.waitForURL(/enroll-app/)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.waitForURL(/\/console\/mfa\/keys/)
    await page.getByRole('button', { name: 'Add a security key' }).click()
    await page.getByText('Your key was added.').waitFor()
    await check(page, 'console-key-added')
    await page.goto(`${url}/console`)
    await page.locator('.console-account summary').click()
    await press(page, 'Sign out')
    await page.waitForURL(/sign-in/)

    await typePassword(page, 'kim@example.com')
    await page.getByRole('heading', { name: 'Use your security key' }).waitFor()
    await check(page, 'console-key')
    await press(page, 'Continue')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await console.invite('lee@example.com')
    clock.move(11 * MINUTE)
    await page.goto(`${url}/console/operators`)
    const row = page.getByRole('row', { name: 'lee@example.com' })
    await row.getByText('Change', { exact: false }).first().click()
    await check(page, 'console-operator-change')
    await row.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('heading', { name: 'Use your security key' }).waitFor()
    await press(page, 'Continue')
    await page.waitForURL(/resume|operators/)
    await snap(page, 'console-after-step-up')
    await context.close()
  })

  test('leads an administrator from the invitation to a new application with a key, and every page fits a phone', async () => {
    const { page, context } = await newUser(browser, LOOKS['desktop-light'])
    await page.goto(url + (await console.invite('ann@example.com', 'admin')))
    await check(page, 'console-invitation')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Password again').fill(PASSWORD)
    const before = await context.cookies()
    await press(page, 'Set the password')
    // Setting the password signs in, in a new session, and nothing but the second factor can be set up (R03, R106).
    await page.waitForURL(/enroll-app/)
    expect(await context.cookies()).not.toEqual(before)
    await page.goto(`${url}/console`)
    expect(new URL(page.url()).pathname).not.toBe('/console')
    await context.clearCookies()
    await page.goto(`${url}/console/sign-in`)
    await check(page, 'console-sign-in')
    await page.getByLabel('Email address').fill('ann@example.com')
    await page.getByLabel('Password').fill('not the password')
    await press(page, 'Continue')
    await page.getByText('Email address or password is wrong.').waitFor()
    await check(page, 'console-sign-in-refused')
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Continue')
    await enrollApp(page)
    await check(page, 'console-overview')

    await page.getByRole('link', { name: 'Applications' }).click()
    await page.getByLabel('Application', { exact: true }).fill('vault')
    await page.getByLabel('Countries').fill('GB')
    await press(page, 'Create')
    await page.getByRole('heading', { name: 'vault' }).waitFor()
    await page.locator('details:has(#sendsPerDay) > summary').click()
    await page.getByLabel('Sends per day').fill('99')
    await press(page, 'Save')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Sends per day').fill('8')
    await press(page, 'Save')
    await page.getByText('Saved: sends per day.').waitFor()
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByLabel('Label').fill('web servers')
    await press(page, 'Create a key')
    expect(await page.locator('code.once').textContent()).toMatch(/^mfa_live_/)
    await check(page, 'console-new-key')
    await console.service.operator('test').pauseTraffic('vault', 'FR')
    await page.getByRole('link', { name: 'Events', exact: true }).click()
    await page.getByLabel('Address').fill('http://localhost:1/events')
    await page.getByLabel('user.locked').check()
    await press(page, 'Create the endpoint')
    const shown = page.locator('code.once')
    expect(await shown.textContent()).toMatch(/^whsec_/)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await press(page, 'Copy')
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await shown.textContent())
    await check(page, 'console-endpoint-secret')
    await page.getByRole('link', { name: 'To the endpoint' }).click()
    await press(page, 'Send a test event')
    await page.getByText('The endpoint did not respond').first().waitFor()
    const { mfa } = console.service
    const send = (phone: string) => mfa.send({ method: 'sms', contact: { kind: 'phone', phone } })
    for (let user = 0; user < 5; user++) await send(`+4474001${user}0001`)

    const asked = await mfa.enrollApp({ contact: { kind: 'email', email: 'zoe@example.com' } })
    expect(asked.outcome).toBe('prepared')
    await find(page, 'zoe@example.com')
    await page.getByLabel('Mailbox or phone number').fill('zoe@example.com')
    await press(page, 'Disable')
    await page.getByText('Nothing is changed yet').waitFor()

    await find(page, '+447400100001')
    await page.getByRole('heading', { name: 'What happened lately' }).waitFor()
    // The result has an address that can be opened again.
    await page.goto(page.url())
    await page.getByRole('heading', { name: 'What happened lately' }).waitFor()

    const state = await context.storageState()
    const { page: charts } = await newUser(browser, { ...LOOKS['desktop-light'], storageState: state })
    const faults: string[] = []
    charts.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
    charts.on('pageerror', (error) => void faults.push(error.message))
    await charts.clock.install()
    await charts.goto(`${url}/console/applications/default/numbers?period=hour`)
    await charts.getByText('The charts are kept up to date.').waitFor()
    expect(await charts.locator('canvas').count()).toBe(2)
    await send('+447400190001')
    const sent = charts.locator('.totals dd').first()
    // Counts are written once a second, and the page reads itself again every half minute.
    await expect
      .poll(
        async () => {
          await charts.clock.fastForward(31_000)
          return sent.textContent()
        },
        { timeout: PATIENCE_MS, interval: 500 },
      )
      .toBe('6')
    expect(await charts.locator('canvas').count()).toBe(2)
    await press(charts, 'Pause updates')
    await charts.getByText('The charts are not kept up to date.').waitFor()
    expect(faults).toEqual([])

    const { page: far } = await newUser(browser, {
      ...LOOKS['desktop-light'],
      storageState: state,
      timezoneId: 'Asia/Kathmandu',
    })
    await far.goto(`${url}/console/applications/default/messages`)
    const time = far.locator('td time').first()
    const at = new Date((await time.getAttribute('datetime')) ?? '')
    const local = new Date(at.getTime() + 345 * MINUTE).toISOString().slice(0, 16).replace('T', ' ')
    expect(await time.textContent()).toBe(`${local} GMT+5:45`)
    expect(await time.getAttribute('title')).toBe(`${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`)
    await far.goto(`${url}/console/applications/default/numbers?period=hour`)
    await far.getByText('Numbers by time (GMT+5:45)').waitFor()

    const { page: plain } = await newUser(browser, {
      ...LOOKS['desktop-light'],
      storageState: state,
      javaScriptEnabled: false,
    })
    await plain.goto(`${url}/console/health?period=day`)
    await plain.getByRole('region', { name: 'Numbers by time' }).waitFor()
    await plain.getByText('Numbers by time (UTC)').waitFor()
    await plain.getByRole('link', { name: 'Last month' }).click()
    await plain
      .getByRole('link', { name: 'Last month', exact: true })
      .and(plain.locator('[aria-current]'))
      .waitFor()
  })
})
