import { expect, it } from 'vitest'
import { axeViolations } from '../kit/axe.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeInEveryBrowser } from './kit/journey.js'
import { messagesTo, newestCode, openInbox, passwordStep, press, typeCode } from './kit/vault.js'

const BOB = '+12025550122'
const DORA = '+12025550133'
const MALLORY = '+12025550144'
const WALT = '+12025550155'

/** The words of a page's description lists that are broken over two lines. */
const BROKEN_WORDS = `[...document.querySelectorAll('dt, dd')].flatMap((box) =>
  [...box.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).flatMap((node) =>
    [...node.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      return range.getClientRects().length !== 1
    }).map(([word]) => word)))`

describeInEveryBrowser('the sign-in of the example app in a browser', (app) => {
  const itInOne = it.runIf(app.isWhole)

  it.each(app.canDisableScripts ? [true, false] : [true])(
    'leads bob by text message to the requested page (scripts: %s)',
    async (javaScriptEnabled) => {
      const { page, context } = await newUser(app.browser, { ...LOOKS['phone-light'], javaScriptEnabled })
      await passwordStep(page, app.url, 'bob', '/vault?from=mail')
      expect(new URL(page.url()).pathname).toBe('/mfa')
      await snap(page, `bob-choose-${javaScriptEnabled}`)

      // Every protected page stays blocked and leads here.
      await page.goto(`${app.url}/account`)
      expect(new URL(page.url()).pathname).toBe('/mfa')
      await page.goto(`${app.url}/vault?from=mail`)

      await page.getByRole('button', { name: /Text a code to ••• 22/ }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await snap(page, `bob-code-${javaScriptEnabled}`)
      const code = await newestCode(app.url, BOB, 'sms')
      await typeCode(page, `${code.slice(0, 3)} ${code.slice(3)}`)
      expect(page.url()).toBe(`${app.url}/vault?from=mail`)
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Money')
      await snap(page, `bob-vault-${javaScriptEnabled}`)
      await context.close()
    },
  )

  it('shows no page whose policy refuses something', async () => {
    const { page, context } = await newUser(app.browser)
    for (const path of ['/', '/login', '/nowhere']) await page.goto(app.url + path)
    await openInbox(page, app.url)
    await passwordStep(page, app.url, 'walt', '/account')
    await page.getByRole('button', { name: /^Call/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(app.url, WALT, 'call'))
    const paths = ['/vault', '/account', '/phone', '/password', '/transcribe', '/mfa', '/mfa/enroll-app']
    for (const path of [...paths, '/mfa/backup', '/mfa/devices', '/mfa/recover']) {
      await page.goto(app.url + path)
      expect(new URL(page.url()).pathname).toBe(path)
    }
    await context.close()
  })

  it('reports a wrong code, allows another attempt, and sends nothing without a request', async () => {
    const { page, context } = await newUser(app.browser, LOOKS['phone-dark'])
    await passwordStep(page, app.url, 'mallory')
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await page.reload()
    await page.goBack()
    await page.goForward()
    const sent = await newestCode(app.url, MALLORY, 'sms')
    await typeCode(page, sent === '000000' ? '111111' : '000000')
    expect(await page.getByRole('alert').textContent()).toMatch(/code/i)
    expect(await page.getByRole('textbox').getAttribute('aria-invalid')).toBe('true')
    await snap(page, 'wrong-code-dark')
    // Loading a page again sends nothing, whichever way (R14).
    await page.goto(`${app.url}/mfa`)
    await page.goto(`${app.url}/mfa?choose`)
    await page.goto(`${app.url}/mfa/verify`)
    await page.reload()
    await page.goBack()
    await page.goForward()
    // Messages are counted, not codes, since the same code would be sent again.
    expect(await messagesTo(app.url, MALLORY)).toHaveLength(1)
    await typeCode(page, sent)
    expect(new URL(page.url()).pathname).toBe('/vault')
    await context.close()
  })

  it('says in a second tab, and after Back, that the user is signed in, and sends nothing there', async () => {
    const { page, context } = await newUser(app.browser)
    await passwordStep(page, app.url, 'bob', '/account')
    const tab = await context.newPage()
    await tab.goto(`${app.url}/mfa`)
    await press(page, /Text a code/)
    await typeCode(page, await newestCode(app.url, BOB, 'sms'))
    expect(new URL(page.url()).pathname).toBe('/account')
    const sent = await messagesTo(app.url, BOB)
    await press(tab, /Text a code/)
    await tab.getByRole('heading', { name: 'You are signed in' }).waitFor()
    await snap(tab, 'second-tab')
    await tab.getByRole('link', { name: 'Back to Vault' }).click()
    await tab.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
    expect(await page.getByRole('textbox').count()).toBe(0)
    await page.getByRole('link', { name: 'Back to Vault' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    expect(await messagesTo(app.url, BOB)).toEqual(sent)
    await context.close()
  })

  itInOne.each([
    ['WhatsApp', /by WhatsApp to/, 'whatsapp'],
    ['a phone call', /^Call/, 'call'],
  ])('signs walt in by %s', async (_method, button, channel) => {
    const { page, context } = await newUser(app.browser, LOOKS['desktop-light'])
    await passwordStep(page, app.url, 'walt')
    await snap(page, `walt-choose-${channel}`)
    await page.getByRole('button', { name: button }).first().click()
    await page.waitForURL(/\/mfa\/verify/)
    await snap(page, `walt-code-${channel}`)
    await typeCode(page, await newestCode(app.url, WALT, channel))
    expect(new URL(page.url()).pathname).toBe('/vault')
    await context.close()
  })

  itInOne('signs dora in by one code that is sent to both her mailbox and her phone', async () => {
    const { page, context } = await newUser(app.browser, LOOKS['desktop-dark'])
    await passwordStep(page, app.url, 'dora')
    await page.getByRole('button', { name: /by email and text/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await snap(page, 'dora-code')
    const bySms = await newestCode(app.url, DORA, 'sms')
    expect(await newestCode(app.url, 'dora@vault.example', 'email')).toBe(bySms)
    await typeCode(page, bySms)
    expect(new URL(page.url()).pathname).toBe('/vault')

    // Her account page fits a small phone without broken words.
    await page.setViewportSize({ width: 320, height: 640 })
    await page.goto(`${app.url}/account`)
    expect(await page.evaluate(BROKEN_WORDS)).toEqual([])
    const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    expect(await page.evaluate(overhang)).toBe(0)
    expect(await axeViolations(page)).toEqual([])
    await snap(page, 'dora-account')
    await context.close()
  })

  itInOne(
    'says to nina, who has no factor, why a withdrawal needs one, what she can set up, and leads her back',
    async () => {
      const { page, context } = await newUser(app.browser)
      await passwordStep(page, app.url, 'nina')
      const balance = await page.getByRole('main').textContent()
      await page.getByLabel(/Withdraw/).fill('5')
      await press(page, 'Withdraw')
      expect(new URL(page.url()).pathname).toBe('/mfa/enroll-app')
      expect(await page.getByRole('main').textContent()).toContain(
        'only for accounts with two-step verification',
      )
      expect(await page.getByRole('button', { name: 'Set up an app' }).count()).toBe(1)
      for (const link of ['Add a passkey', 'Add a phone number or email address'])
        expect([link, await page.getByRole('link', { name: link }).count()]).toEqual([link, 1])
      await snap(page, 'nina-needs-a-factor')
      await page.getByRole('link', { name: 'Not now' }).click()
      await page.getByRole('heading', { name: /^Good to see you/ }).waitFor()
      await page.goto(`${app.url}/vault`)
      expect(await page.getByRole('main').textContent()).toBe(balance)
      await context.close()
    },
  )

  itInOne('lets a user cancel and sign in with another account', async () => {
    const { page, context } = await newUser(app.browser)
    await passwordStep(page, app.url, 'bob')
    await page.getByRole('button', { name: /use another account/i }).click()
    expect(new URL(page.url()).pathname).toBe('/login')
    await page.getByLabel('User name').fill('nina')
    await page.getByLabel('Password').fill('nina-opens-vault')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    expect(new URL(page.url()).pathname).toBe('/vault')
    await context.close()
  })
})
