import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { View } from '../../src/pages/view.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { codeView, factorOf, frame, keyPageOf, VIEWS } from './samples.js'
import { servePage } from './serve-page.js'
import { stopClock } from './stop-clock.js'

describe.skipIf(!hasBrowser)('the script of the pages', () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof servePage>>

  beforeAll(async () => {
    site = await servePage()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** Opens a page whose clock the test moves. */
  async function open(view: View): Promise<Page> {
    site.show(view, frame)
    const context = await browser.newContext({ permissions: ['clipboard-write', 'clipboard-read'] })
    const page = await context.newPage()
    await stopClock(page)
    await page.goto(site.url)
    return page
  }

  /** The browser puts the cursor into the field by itself, but not before it has drawn the page. */
  async function cursorIn(page: Page): Promise<void> {
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('mfa-code')
  }

  const sms = codeView(factorOf('sms'), { others: [factorOf('app'), factorOf('email')] })

  it('submits the code once when it is complete, ignoring spaces and dashes', async () => {
    const page = await open(sms)
    await cursorIn(page)
    // Announced before it happens (WCAG 3.2.2).
    const code = page.getByRole('textbox', { name: 'Verification code' })
    const hint = 'We continue after the last digit.'
    expect(await page.getByText(hint).isVisible()).toBe(true)
    expect(await code.getAttribute('aria-describedby')).toBe('mfa-lead mfa-complete')
    await page.keyboard.type('123 45')
    expect(site.posts).toEqual([])
    await page.keyboard.type('6')
    await expect.poll(() => site.posts).toEqual([{ path: '/mfa/verify', body: 'factor=sms-1&code=123+456' }])
    await page.keyboard.press('Enter')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('7')
    expect(site.posts).toHaveLength(1)
    await page.context().close()
  })

  it('submits a code that was complete before the script ran, except where the browser filled it in after a reload', async () => {
    site.show(sms, frame)
    const page = await (await browser.newContext()).newPage()
    let load = () => {}
    const released = new Promise<void>((resolve) => {
      load = resolve
    })
    await page.route('**/mfa.js*', async (route) => {
      await released
      await route.continue()
    })
    await page.goto(site.url, { waitUntil: 'commit' })
    const code = page.getByRole('textbox', { name: 'Verification code' })
    await code.fill('123456')
    expect(site.posts).toEqual([])
    load()
    await expect.poll(() => site.posts).toEqual([{ path: '/mfa/verify', body: 'factor=sms-1&code=123456' }])
    await page.context().close()

    const other = await open(sms)
    await cursorIn(other)
    // As a browser restores it: before the script runs.
    await other.addInitScript(`new MutationObserver(() => {
      const input = document.getElementById('mfa-code')
      if (input) input.value = '123456'
    }).observe(document, { childList: true, subtree: true })`)
    await other.reload()
    await cursorIn(other)
    expect(await other.getByRole('textbox').inputValue()).toBe('123456')
    expect(site.posts).toEqual([])
    await other.context().close()
  })

  it('submits a code once that a password manager enters while the page loads, also if the user presses the button', async () => {
    site.show(sms, frame)
    const page = await (await browser.newContext()).newPage()
    await stopClock(page)
    await page.addInitScript(`
      addEventListener('load', () => {
        const input = document.getElementById('mfa-code')
        input.value = '123456'
        input.dispatchEvent(new Event('input', { bubbles: true }))
      })
      addEventListener('pageshow', () => { window.isShown = true })`)
    await page.goto(site.url)
    await expect.poll(() => page.evaluate('window.isShown')).toBe(true)
    await page.getByRole('button', { name: 'Continue' }).click()
    await expect.poll(() => site.posts).toEqual([{ path: '/mfa/verify', body: 'factor=sms-1&code=123456' }])
    await page.context().close()
  })

  it('lets a page on which a form failed be loaded again without posting the form', async () => {
    const page = await open(VIEWS.locked)
    await expect.poll(() => new URL(page.url()).pathname).toBe('/mfa')
    const reloaded = await page.reload()
    expect(reloaded?.request().method()).toBe('GET')
    expect(new URL(page.url()).pathname).toBe('/mfa')
    expect(site.posts).toEqual([])
    await page.context().close()
  })

  it('does not submit a backup code automatically', async () => {
    const page = await open(VIEWS['backup code'])
    await cursorIn(page)
    await page.keyboard.type('123456')
    await page.clock.runFor(1000)
    expect(site.posts).toEqual([])
    await page.keyboard.press('Enter')
    await expect.poll(() => site.posts).toHaveLength(1)
    await page.context().close()
  })

  it('disables "send again" until the wait is over, and announces it once', async () => {
    const page = await open(sms)
    const again = page.getByRole('button', { name: 'Send the code again' })
    const live = page.locator('[data-mfa-live]')
    expect(await again.isDisabled()).toBe(true)
    await page.clock.runFor(20_000)
    expect(await page.getByText(/You can request the code again/).textContent()).toBe(
      'You can request the code again in 10 seconds.',
    )
    expect(await live.textContent()).toBe('')
    await page.clock.runFor(11_000)
    expect(await again.isEnabled()).toBe(true)
    expect(await live.textContent()).toBe('You can request the code again now.')
    await page.context().close()
  })

  it('warns a minute before the pending login ends, then leaves the page', async () => {
    const page = await open(VIEWS.choose)
    await page.clock.runFor(481_000)
    expect(await page.locator('[data-mfa-live]').textContent()).toMatch(
      /This sign‑in expires in (59|60) seconds/,
    )
    await page.clock.runFor(61_000)
    await page.waitForURL(/\/mfa$/)
    await page.context().close()
  })

  it('shows when code and sign-in end in their last minute only', async () => {
    const page = await open(sms)
    const line = (hasText: RegExp) => page.locator('p[data-mfa-left]', { hasText })
    const ends = [line(/^The code expires in/), line(/^This sign‑in expires in/)]
    const shown = () => Promise.all(ends.map((line) => line.isVisible()))
    expect(await shown()).toEqual([false, false])
    await page.clock.runFor(481_000)
    expect(await shown()).toEqual([false, true])
    await page.context().close()
  })

  it('copies the key without spaces', async () => {
    const page = await open(VIEWS['enroll without picture'])
    await page.getByRole('button', { name: 'Copy key' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('ABCDEFGH')
    await page.context().close()
  })

  it('starts the ceremony of a key with its button, which has the focus, and says what went wrong', async () => {
    const page = await open(keyPageOf('passkey', { others: [factorOf('sms')] }))
    const button = page.getByRole('button', { name: 'Continue' })
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Continue')
    await page.keyboard.press('Enter')
    // The answer to this request is empty.
    expect(await page.getByRole('alert').textContent()).toMatch(/^That didn’t work/)
    expect(site.posts).toEqual([{ path: '/mfa/challenge', body: '{"factor":"passkey-1"}' }])
    await button.click()
    await expect.poll(() => site.posts).toHaveLength(2)
    await expect.poll(() => page.getByRole('alert').count()).toBe(1)
    await page.context().close()
  })

  it('says that a browser without WebAuthn cannot use keys, and skips the offer of one', async () => {
    const page = await open(keyPageOf('security-key'))
    await page.addInitScript('delete window.PublicKeyCredential')
    await page.reload()
    expect(await page.getByRole('alert').textContent()).toMatch(/^This doesn’t work in this browser/)
    expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0)
    site.show(VIEWS['offer of a passkey'], frame)
    await page.route('**/account', (route) => route.fulfill({ body: 'Account' }))
    await page.goto(site.url)
    await page.waitForURL(/\/account$/)
    await page.context().close()
  })

  it('works without JavaScript', async () => {
    site.show(sms, frame)
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(site.url)
    await page.getByRole('button', { name: 'Send the code again' }).click()
    await expect.poll(() => site.posts).toEqual([{ path: '/mfa/challenge', body: 'factor=sms-1' }])
    await page.getByLabel('Code').fill('123-456')
    await page.getByRole('button', { name: 'Continue' }).click()
    await expect.poll(() => site.posts[1]).toEqual({ path: '/mfa/verify', body: 'factor=sms-1&code=123-456' })
    await page.getByText('Didn’t get the code?').click()
    await page.getByRole('button', { name: /Email a code/ }).click()
    await expect.poll(() => site.posts[2]).toEqual({ path: '/mfa/challenge', body: 'factor=email-1' })
    site.show(keyPageOf('passkey', { others: [factorOf('sms')] }), frame)
    await page.goto(site.url)
    await page.getByText('This option needs JavaScript').waitFor()
    await page.getByText('Try another way').click()
    await page.getByRole('button', { name: /Text a code/ }).click()
    await expect.poll(() => site.posts).toEqual([{ path: '/mfa/challenge', body: 'factor=sms-1' }])
    await context.close()
  })
})
