import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { View } from '../../src/pages/view.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { everyCase } from '../kit/every-case.js'
import { codeView, factorOf, frame, VIEWS } from './samples.js'
import { servePage } from './serve-page.js'

/*
 * The browser and the page are real. A telephone that receives text messages is not at hand, so a script puts one in
 * the place of `navigator.credentials.get` before the page's own runs: it keeps the request, and responds when the test says so.
 */
const TELEPHONE = `
  window.OTPCredential = class {}
  window.asked = []
  navigator.credentials.get = ({ otp, signal }) => new Promise((resolve, reject) => {
    const wish = { transport: otp.transport, aborted: false }
    window.asked.push(wish)
    signal.addEventListener('abort', () => { wish.aborted = true; reject(signal.reason) })
    window.receive = (code) => resolve({ code })
    window.dismiss = () => reject(new DOMException('no', 'NotAllowedError'))
  })`

describe.skipIf(!hasBrowser)('a code that the browser reads from a text message (WebOTP)', () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof servePage>>
  const complaints: string[] = []

  beforeAll(async () => {
    site = await servePage()
    browser = await openBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  async function open(view: View, telephone = TELEPHONE): Promise<Page> {
    complaints.length = 0
    site.show(view, frame)
    const page = await browser.newPage()
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.addInitScript(telephone)
    await page.goto(site.url)
    return page
  }

  const sms = codeView(factorOf('sms'))
  const typedIn = (page: Page) => page.locator('#mfa-code').inputValue()

  it('is entered and submitted automatically', () =>
    everyCase(['sms', 'dual'] as const, async (method) => {
      const page = await open(codeView(factorOf(method)))
      expect(await page.evaluate('window.asked')).toEqual([{ transport: ['sms'], aborted: false }])
      await page.evaluate('window.receive("123456")')
      await expect
        .poll(() => site.posts)
        .toEqual([{ path: '/mfa/verify', body: `factor=${method}-1&code=123456` }])
      expect(complaints).toEqual([])
    }))

  it('is no longer requested once the user has submitted a code', async () => {
    const page = await open(sms)
    await page.locator('#mfa-code').fill('654321')
    await expect.poll(() => site.posts.length).toBe(1)
    expect(await page.evaluate('window.asked')).toEqual([{ transport: ['sms'], aborted: true }])
    await page.evaluate('window.receive("123456")')
    expect(await typedIn(page)).toBe('654321')
    expect(site.posts).toEqual([{ path: '/mfa/verify', body: 'factor=sms-1&code=654321' }])
    expect(complaints).toEqual([])
  })

  it('is no longer requested once the user chooses another factor or requests the code again', async () => {
    const page = await open(
      codeView(factorOf('sms'), {
        others: [factorOf('email')],
        challenge: { factor: factorOf('sms'), delivery: 'sent', expiresAt: frame.now + 60_000 },
      }),
    )
    await page.getByRole('button', { name: 'Send the code again' }).click()
    await expect.poll(() => page.evaluate('window.asked[0].aborted')).toBe(true)
    expect(complaints).toEqual([])
  })

  it('does not replace what the user has begun to type', async () => {
    const page = await open(sms)
    await page.locator('#mfa-code').fill('12')
    await page.evaluate('window.receive("999999")')
    expect(await typedIn(page)).toBe('12')
    expect(site.posts).toEqual([])
  })

  it('can be typed if the user does not let the browser read it', async () => {
    const page = await open(sms)
    await page.evaluate('window.dismiss()')
    await page.locator('#mfa-code').fill('123456')
    await expect.poll(() => site.posts.length).toBe(1)
    expect(complaints).toEqual([])
  })

  it('is not requested where no text message is sent', () =>
    everyCase(
      [
        ['email', codeView(factorOf('email'))],
        ['app', codeView(factorOf('app'))],
        ['a call', codeView(factorOf('call'))],
        ['a backup code', VIEWS['backup code']],
      ],
      async ([_, view]) => {
        const page = await open(view)
        expect(await page.evaluate('window.asked')).toEqual([])
      },
    ))

  it('can be typed in a browser without WebOTP', async () => {
    const page = await open(sms, 'delete window.OTPCredential')
    await page.locator('#mfa-code').fill('123456')
    await expect.poll(() => site.posts.length).toBe(1)
    expect(complaints).toEqual([])
  })
})
