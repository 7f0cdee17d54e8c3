import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { en } from '../../src/pages/locales/en.js'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { getStatus, PROBLEM_CODES } from '../../src/web/http/problem.js'
import { passwordManager, type Reaction } from '../browser/password-manager.js'
import { virtualAuthenticators } from '../browser/virtual-authenticator.js'
import { HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { appCode } from './kit/authenticator.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney, openJourney } from './kit/journey.js'
import { newestCode, passwordStep, press, typeCode } from './kit/vault.js'

/** The next page says what these miss. */
const CONTINUES_THERE: readonly string[] = [
  'mfa_required',
  'step_up_required',
  'enrollment_required',
  'bypass_code_required',
]

const ALICE_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const BOB = '+12025550122'
const MALLORY = '+12025550144'

/** A key on USB without a PIN, which stores nothing. */
const BLUE_KEY = {
  transport: 'usb',
  hasResidentKey: false,
  hasUserVerification: false,
  synced: false,
} as const

const pathOf = (page: Page) => new URL(page.url()).pathname
const alertOn = (page: Page) => page.getByRole('alert').textContent()
const keysOn = (page: Page) =>
  page.getByRole('list', { name: 'Passkeys and security keys' }).getByRole('listitem')

/** Presses a button whose ceremony fails in the browser, and returns what the page then says. */
async function failure(page: Page, name: string): Promise<string | null> {
  await page.getByRole('button', { name }).click()
  await page.getByRole('alert').waitFor()
  return alertOn(page)
}

/** Presses a button whose request the app refuses with each problem code, and checks what the page then says. */
async function everyRefusal(page: Page, route: string, name: string): Promise<void> {
  const next = `${new URL(page.url()).pathname}?continued`
  await everyCase(PROBLEM_CODES, async (code) => {
    await page.route(route, (request) =>
      request.fulfill({ status: getStatus(code), json: { code, next, title: 'x', retryAfterSeconds: 600 } }),
    )
    if (CONTINUES_THERE.includes(code)) {
      await page.getByRole('button', { name }).first().click()
      await page.waitForURL(/\?continued/)
      await page.goBack()
    } else {
      await page.getByRole('button', { name }).first().click()
      const { title, advice } = en.problems[code]
      await expect.poll(() => alertOn(page)).toContain(title)
      const said = await alertOn(page)
      expect(said).toContain(advice.replaceAll('{app}', 'Vault').replaceAll('{in}', 'in 10 minutes'))
    }
    await page.unroute(route)
  })
}

/** Presses the button for a new key, and approves that key with one of the account. */
async function approveByKey(page: Page, name: string): Promise<void> {
  await press(page, name)
  expect(pathOf(page)).toBe('/mfa/verify')
  expect(await page.getByRole('main').textContent()).toContain(name)
  await press(page, 'Continue')
  expect(pathOf(page)).toBe('/mfa/keys')
}

async function signOut(page: Page, app: string): Promise<void> {
  await page.goto(`${app}/account`)
  await press(page, 'Sign out')
}

describeJourney(
  'passkeys and security keys in the example app',
  (app) => {
    it('lets alice add three, sign in and step up with them, and remove them from the app and the password manager', async () => {
      const clock = stopClock()
      const { page, context } = await newUser(app.browser, LOOKS['phone-light'])
      const authenticators = await virtualAuthenticators(page)
      const phone = await authenticators.add()

      await passwordStep(page, app.url, 'alice', '/account')
      await page.getByRole('link', { name: /authenticator app/i }).click()
      await typeCode(page, appCode(ALICE_SECRET))
      expect(await page.getByRole('heading').textContent()).toBe('Sign in without a code next time')
      await snap(page, 'alice-passkey-offer')
      await press(page, 'Add a passkey')
      expect(await page.getByRole('status').first().textContent()).toBe('Your key was added.')
      expect(await keysOn(page).textContent()).toMatch(/^Passkey\s*Synced/)

      // Of several authenticators, the user touches one. The key that was used last approves the next one.
      clock.move(SECOND)
      await approveByKey(page, 'Add a security key')
      await phone.touch(false)
      const blue = await authenticators.add(BLUE_KEY)
      await press(page, 'Add a security key')
      clock.move(SECOND)
      await approveByKey(page, 'Add a passkey')
      await blue.remove()
      const bound = await authenticators.add({ transport: 'usb', synced: false })
      await press(page, 'Add a passkey')
      await bound.remove()
      expect(await keysOn(page).allTextContents()).toEqual([
        expect.stringMatching(/^Passkey\s*Synced/),
        expect.stringMatching(/^Security key\s*One device only/),
        expect.stringMatching(/^Passkey\s*One device only/),
      ])
      await keysOn(page).nth(1).getByText('Rename').click()
      await keysOn(page).nth(1).getByLabel('Name').fill('Blue key')
      await press(page, 'Save')
      expect(await keysOn(page).nth(1).textContent()).toContain('Blue key')
      await snap(page, 'alice-keys')
      await page.goto(`${app.url}/account`)
      await snap(page, 'alice-account-with-keys')
      expect(await page.getByRole('main').textContent()).toContain('Blue key')
      await signOut(page, app.url)
      await phone.touch(true)
      await passwordStep(page, app.url, 'alice')
      // One touch: the page of the key that was last used comes first, with the other factors beside it.
      expect(await page.getByRole('heading').first().textContent()).toBe('Use your passkey')
      await page.getByText('Try another way').click()
      await expect
        .poll(() => page.getByRole('link', { name: 'Use your authenticator app' }).isVisible())
        .toBe(true)
      await snap(page, 'alice-passkey')
      await press(page, 'Continue')
      expect(pathOf(page)).toBe('/vault')

      clock.move(6 * MINUTE)
      await page.getByLabel(/Withdraw/).fill('20')
      await press(page, 'Withdraw')
      await press(page, 'Continue')
      // The approved withdrawal goes through by itself.
      await page.waitForURL(/\/vault$/)
      expect(await page.getByRole('main').textContent()).toContain('$20')

      // An approval counts for what was approved, and for no change of factors.
      await page.goto(`${app.url}/mfa/keys`)
      await keysOn(page).last().getByRole('link', { name: 'Remove' }).click()
      await press(page, 'Continue')
      await page.goto(`${app.url}/mfa/keys`)
      for (const left of [2, 1]) {
        await keysOn(page).last().getByRole('link', { name: 'Remove' }).click()
        await press(page, 'Remove')
        expect(await keysOn(page).count()).toBe(left)
      }
      expect(await phone.keys()).toHaveLength(1)
      await keysOn(page).getByRole('link', { name: 'Remove' }).click()
      await snap(page, 'alice-remove-last-key')
      expect(await page.getByRole('main').textContent()).toContain('a fake sign-in page could trick you')
      await press(page, 'Remove')
      expect(await keysOn(page).count()).toBe(0)
      await expect.poll(() => phone.keys()).toEqual([])
      await context.close()
    })

    it('tells bob in words what went wrong, and accepts his passkey afterwards', async () => {
      const clock = stopClock()
      const { page, context } = await newUser(app.browser, LOOKS['desktop-dark'])
      const phone = await (await virtualAuthenticators(page)).add()
      await passwordStep(page, app.url, 'bob', '/account')
      await page.getByRole('button', { name: /Text a code/ }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await typeCode(page, await newestCode(app.url, BOB, 'sms'))
      await snap(page, 'bob-passkey-offer')
      await press(page, 'Not now')
      expect(pathOf(page)).toBe('/account')
      await page.goto(`${app.url}/mfa/keys`)
      await snap(page, 'bob-no-keys')
      await press(page, 'Add a passkey')
      await snap(page, 'bob-keys')
      await approveByKey(page, 'Add a passkey')
      expect(await failure(page, 'Add a passkey')).toMatch(/^This key was already added/)
      await snap(page, 'bob-already-added')
      await everyRefusal(page, '**/mfa/keys/options', 'Add a passkey')

      await signOut(page, app.url)
      await passwordStep(page, app.url, 'bob')
      await phone.verifyUser(false)
      expect(await failure(page, 'Continue')).toMatch(/^Nothing was confirmed/)
      await phone.verifyUser(true)

      await everyRefusal(page, '**/mfa/challenge', 'Continue')
      await page.route('**/mfa/challenge', (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway' }))
      expect(await failure(page, 'Continue')).not.toBe('')
      await page.unroute('**/mfa/challenge')

      await page.route('**/mfa/challenge', async (route) => {
        const response = await route.fetch()
        const body = await response.json()
        await route.fulfill({
          response,
          json: { ...body, publicKey: { ...body.publicKey, rpId: 'vault.example' } },
        })
      })
      expect(await failure(page, 'Continue')).toMatch(/^This is not the right site/)
      await page.unroute('**/mfa/challenge')

      await page.route('**/mfa/verify', (route) => {
        clock.move(6 * MINUTE)
        return route.continue()
      })
      await press(page, 'Continue')
      expect(await alertOn(page)).toMatch(/^That took too long/)
      await page.unroute('**/mfa/verify')

      await page.route('**/mfa/verify', (route) => {
        const form = new URLSearchParams(route.request().postData() ?? '')
        const response = JSON.parse(form.get('response') ?? '{}')
        form.set('response', JSON.stringify({ ...response, id: 'b3RoZXI', rawId: 'b3RoZXI' }))
        return route.continue({ postData: form.toString() })
      })
      await press(page, 'Continue')
      expect(await alertOn(page)).toMatch(/^This key doesn’t belong to your account/)
      await snap(page, 'bob-not-your-key')
      await page.unroute('**/mfa/verify')

      await press(page, 'Continue')
      expect(pathOf(page)).toBe('/vault')
      await context.close()
    })

    it('has the password manager of mallory create a passkey without a prompt, and offers one as before where that fails', async () => {
      const clock = stopClock()
      const NO_SUPPORT =
        'PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: false })'
      const OLD_BROWSER = 'delete PublicKeyCredential.getClientCapabilities'
      const unprompted = { flags: { userPresent: false, userVerified: false } }

      /** Signs mallory in with a code, in a new browser with a password manager. */
      const signIn = async (reaction: Reaction, script = '') => {
        const { page, context } = await newUser(app.browser)
        const manager = softwareAuthenticator({ attachment: 'platform', backupEligible: true })
        const forgotten = await passwordManager(page, manager, reaction)
        await page.addInitScript(script)
        const complaints: string[] = []
        page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()))
        const posts: string[] = []
        page.on('response', (answer) => {
          const { pathname } = new URL(answer.url())
          if (pathname.startsWith('/mfa/keys') && answer.request().method() === 'POST')
            posts.push(`${pathname} ${answer.status()}`)
        })
        // Messages to a user are limited in a day.
        clock.move(5 * HOUR)
        await passwordStep(page, app.url, 'mallory', '/account')
        await page.getByRole('button', { name: /Text a code/ }).click()
        await page.waitForURL(/\/mfa\/verify/)
        await typeCode(page, await newestCode(app.url, MALLORY, 'sms'))
        return { page, context, manager, forgotten, complaints, posts }
      }

      const asked = ['/mfa/keys/options 200']
      const wrong = { ...unprompted, clientData: { challenge: 'b3RoZXI' } }
      const cases: readonly [string, Reaction, string[], string?][] = [
        ['the browser cannot', { changes: unprompted }, [], NO_SUPPORT],
        ['the browser does not say what it can', { changes: unprompted }, [], OLD_BROWSER],
        ['no password was filled in', { error: 'NotAllowedError' }, asked],
        ['the password manager has a passkey', { error: 'InvalidStateError' }, asked],
        ['the app refuses the passkey', { changes: wrong }, [...asked, '/mfa/keys 401']],
      ]
      await everyCase(cases, async ([_, reaction, expected, script]) => {
        const { page, context, manager, forgotten, posts } = await signIn(reaction, script)
        await expect.poll(() => posts).toEqual(expected)
        const isRefused = expected.length === 2
        await expect.poll(() => forgotten).toEqual(isRefused ? manager.credentials().map(({ id }) => id) : [])
        expect(await page.getByRole('alert').count()).toBe(0)
        expect(await page.getByRole('button', { name: 'Add a passkey' }).isEnabled()).toBe(true)
        await press(page, 'Not now')
        expect(pathOf(page)).toBe('/account')
        expect(posts.filter((post) => !post.includes('/decline'))).toEqual(expected)
        await context.close()
      })

      const { page, context, forgotten, complaints, posts } = await signIn({ changes: unprompted })
      await page.waitForURL(/\/mfa\/keys\?saved/)
      expect(posts).toEqual([...asked, '/mfa/keys 200'])
      expect(complaints).toEqual([])
      expect(forgotten).toEqual([])
      expect(await page.getByRole('status').first().textContent()).toBe(en.success.key_saved)
      expect(await keysOn(page).textContent()).toMatch(/^Passkey\s*Synced/)
      expect(await keysOn(page).getByRole('link', { name: 'Remove' }).count()).toBe(1)
      await snap(page, 'mallory-passkey-saved')
      await page.getByRole('link', { name: /^Continue to/ }).click()
      await page.waitForURL(/\/account/)
      await context.close()
    })
  },
  () => openJourney({ MFA_PASSKEY_OFFER: '30d' }),
)
