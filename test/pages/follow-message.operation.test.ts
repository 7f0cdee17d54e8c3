import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ChallengeView } from '../../src/pages/view.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { everyCase } from '../kit/every-case.js'
import { codeView, FACTORS, factorOf, frame, NOW } from './samples.js'
import { servePage } from './serve-page.js'
import { stopClock } from './stop-clock.js'

const sms = factorOf('sms')
const queued: ChallengeView = {
  factor: sms,
  delivery: 'queued',
  follow: true,
  expiresAt: NOW + 300_000,
  resendAt: NOW + 30_000,
}
// The end of the pending login leads to another page, which would ask again; how far the clock is moved depends on the machine.
const lasting = { ...frame, pendingLoginEndsAt: NOW + 24 * 60 * 60_000 }
const view = codeView(sms, { challenge: queued, others: FACTORS })
const stateOf = (delivery: string, factor = sms.id) => ({
  status: 'pending',
  challenge: { factor, delivery },
})

describe.skipIf(!hasBrowser)('the line about a message that has not left yet', () => {
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

  // A page that stayed open would go on asking.
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })

  async function open(shown = view, javaScriptEnabled = true): Promise<Page> {
    site.show(shown, lasting)
    const context = await browser.newContext({ javaScriptEnabled })
    const page = await context.newPage()
    if (javaScriptEnabled) await stopClock(page)
    await page.goto(site.url)
    return page
  }

  /** Lets time pass until the script has asked so often. */
  async function passUntilAsked(page: Page, times: number, stepMs = 1_000): Promise<void> {
    await expect
      .poll(async () => {
        if (site.asked.length < times) await page.clock.fastForward(stepMs)
        return site.asked.length
      })
      .toBe(times)
  }

  const lineOf = (page: Page) => page.locator('#mfa-lead')
  const isOpen = (page: Page) => page.evaluate('document.querySelector(".mfa-trouble").open')

  it('says that the message was sent, without moving the cursor', async () => {
    site.tell(stateOf('queued'))
    const page = await open()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('mfa-code')
    await page.keyboard.type('12')
    expect(await lineOf(page).getAttribute('aria-live')).toBe('polite')
    await passUntilAsked(page, 2)
    expect(await lineOf(page).textContent()).toContain('is waiting to be sent')
    site.tell(stateOf('sent'))
    await passUntilAsked(page, 3)
    await page.getByText('We texted a verification code to ••• 57.').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('mfa-code')
    expect(await page.locator('#mfa-code').inputValue()).toBe('12')
    expect(await isOpen(page)).toBe(false)
    // It is settled: nothing is asked any more.
    await page.clock.runFor(120_000)
    expect(site.asked).toEqual(['/mfa/verify', '/mfa/verify', '/mfa/verify'])
  })

  it('says that a carrier refused the message, and opens the other factors without moving the cursor', async () => {
    site.tell(stateOf('refused'))
    const page = await open()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('mfa-code')
    await passUntilAsked(page, 1)
    await page.getByText(/could not be delivered to ••• 57. Try another way below/).waitFor()
    await expect.poll(() => isOpen(page)).toBe(true)
    await expect.poll(() => page.getByRole('button', { name: /Email a code/ }).isVisible()).toBe(true)
    expect(await page.getByText('Text messages can take a minute').count()).toBe(0)
    expect(await page.evaluate('document.activeElement.id')).toBe('mfa-code')
  })

  it('says that a sent message was delivered, if the service reports that', async () => {
    site.tell(stateOf('queued'))
    const page = await open(codeView(sms, { challenge: { ...queued, reports: true }, others: FACTORS }))
    await passUntilAsked(page, 1)
    site.tell(stateOf('sent'))
    await passUntilAsked(page, 2)
    await page.getByText('We texted a verification code to ••• 57.').waitFor()
    await passUntilAsked(page, 3)
    site.tell(stateOf('delivered'))
    await passUntilAsked(page, 4)
    await page.getByText('Your verification code was delivered to ••• 57.').waitFor()
    await page.clock.runFor(120_000)
    expect(site.asked).toHaveLength(4)
  })

  it('says that a sent message could not be delivered, and opens the other factors', async () => {
    site.tell(stateOf('refused'))
    const challenge = { ...queued, delivery: 'sent', reports: true } as const
    const page = await open(codeView(sms, { challenge, others: FACTORS }))
    expect(await lineOf(page).textContent()).toContain('We texted a verification code')
    await passUntilAsked(page, 1)
    await page.getByText(/could not be delivered to ••• 57. Try another way below/).waitFor()
    await expect.poll(() => isOpen(page)).toBe(true)
  })

  it('polls at growing intervals, and stops in the end', async () => {
    site.tell(stateOf('queued'))
    const page = await open()
    await page.clock.runFor(2_900)
    expect(site.asked).toHaveLength(0)
    await passUntilAsked(page, 1, 200)
    await passUntilAsked(page, 6, 500)
    const before = site.asked.length
    await page.clock.runFor(14_000)
    expect(site.asked).toHaveLength(before)
    await passUntilAsked(page, 20, 15_000)
    for (let minute = 0; minute < 15; minute++) await page.clock.fastForward(60_000)
    expect(site.asked).toHaveLength(20)
  })

  it('continues polling after a failed response', async () => {
    site.tell({}, 503)
    const page = await open()
    await passUntilAsked(page, 2)
    site.tell(stateOf('sent'))
    await passUntilAsked(page, 3)
    await page.getByText('We texted a verification code').waitFor()
  })

  it('stops polling when there is nothing more to learn', () =>
    everyCase(
      [
        ['the session has ended', {}, 401],
        ['another code is under way', stateOf('queued', 'email-1'), 200],
      ],
      async ([_, body, status]) => {
        site.tell(body, status)
        const page = await open()
        await passUntilAsked(page, 1)
        await page.clock.runFor(120_000)
        expect(site.asked).toHaveLength(1)
        expect(await lineOf(page).textContent()).toContain('is waiting to be sent')
      },
    ))

  it('does not poll while the page is hidden', async () => {
    site.tell(stateOf('queued'))
    const page = await open()
    const hide = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    await hide(true)
    await page.clock.runFor(120_000)
    expect(site.asked).toHaveLength(0)
    await hide(false)
    await expect.poll(() => site.asked.length).toBe(1)
  })

  it('stops polling once a code was submitted', async () => {
    site.tell(stateOf('queued'))
    const page = await open()
    await page.locator('#mfa-code').fill('123456')
    await expect.poll(() => site.posts.length).toBe(1)
    await page.clock.runFor(60_000)
    expect(site.asked).toHaveLength(0)
  })

  it('stays unchanged without polling if the service reports no delivery states', async () => {
    const { follow: _, ...untold } = queued
    const page = await open(codeView(sms, { challenge: untold }))
    await page.clock.runFor(120_000)
    expect(site.asked).toHaveLength(0)
  })

  it('stays as rendered without JavaScript', async () => {
    const page = await open(view, false)
    expect(await lineOf(page).textContent()).toContain('is waiting to be sent')
    expect(await page.getByText('We texted a verification code').count()).toBe(0)
  })
})
