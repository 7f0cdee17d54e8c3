import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasBrowser } from '../kit/chromium.js'
import { appCode, scan } from './kit/authenticator.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { type Journey, openJourney } from './kit/journey.js'
import { messagesTo, newestCode, passwordStep, press, typeCode } from './kit/vault.js'

const ALICE_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const OTTO_SECRET = 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'
const MALLORY = '+12025550144'
const WALT = '+12025550155'

describe.skipIf(!hasBrowser)('the example app in a browser', () => {
  let journey: Journey
  let url: string
  let browser: Browser
  const realNow = () => performance.timeOrigin + performance.now()
  const clock = { ahead: (seconds: number) => void vi.setSystemTime(realNow() + seconds * 1000) }

  beforeAll(async () => {
    journey = await openJourney()
    ;({ url, browser } = journey)
    // The clock goes on, as that of the browser does.
    vi.useFakeTimers({ toFake: ['Date'], now: realNow(), shouldAdvanceTime: true })
  })

  afterAll(async () => {
    vi.useRealTimers()
    await journey.close()
  })

  it('signs alice in with her app, sends her new backup codes, and accepts each of them once', async () => {
    const { page, context } = await newUser(browser, LOOKS['desktop-light'])
    await passwordStep(page, url, 'alice')
    await snap(page, 'alice-choose')
    await page.getByRole('link', { name: /authenticator app/i }).click()
    await snap(page, 'alice-app-code')
    await typeCode(page, appCode(ALICE_SECRET))
    expect(new URL(page.url()).pathname).toBe('/vault')

    await page.goto(`${url}/mfa/backup`)
    await snap(page, 'alice-backup')
    await page.getByRole('button', { name: /^Send them/ }).click()
    await page.waitForLoadState()
    await snap(page, 'alice-backup-sent')
    expect(await page.getByRole('main').textContent()).toContain('a…e@vault.example')
    const mailed = (await messagesTo(url, 'alice@vault.example')).length
    await page.reload()
    expect(await page.getByRole('main').textContent()).toContain('a…e@vault.example')
    expect(await messagesTo(url, 'alice@vault.example')).toHaveLength(mailed)
    await context.close()

    const mail = (await messagesTo(url, 'alice@vault.example')).find(({ text }) =>
      text.includes('backup codes'),
    )
    const [code = '', another = ''] = mail?.text.match(/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}/g) ?? []
    expect(code).toHaveLength(19)

    const second = await newUser(browser, LOOKS['phone-light'])
    await passwordStep(second.page, url, 'alice')
    await second.page.getByRole('link', { name: /backup code/i }).click()
    await snap(second.page, 'alice-backup-code')
    await typeCode(second.page, code.toLowerCase().replaceAll('-', ' '))
    expect(new URL(second.page.url()).pathname).toBe('/mfa/backup-codes-left')
    await second.context.close()

    const third = await newUser(browser, LOOKS['phone-light'])
    await passwordStep(third.page, url, 'alice')
    await third.page.getByRole('link', { name: /backup code/i }).click()
    await typeCode(third.page, code)
    expect(new URL(third.page.url()).pathname).toBe('/mfa/verify')
    expect(await third.page.getByRole('alert').textContent()).toMatch(/Wrong (or already used )?code/)
    await typeCode(third.page, another)
    expect(new URL(third.page.url()).pathname).toBe('/mfa/backup-codes-left')
    await third.context.close()
  })

  it('asks for a factor for each withdrawal, and shows what it approves (R121, R123)', async () => {
    const { page, context } = await newUser(browser, LOOKS['desktop-dark'])
    await passwordStep(page, url, 'walt')
    await page.getByRole('button', { name: /^Call/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(url, WALT, 'call'))
    clock.ahead(30)
    await withdraw(page, 20)
    expect(new URL(page.url()).pathname).toBe('/mfa')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Withdraw $20')
    expect(await page.title()).not.toContain('20')
    await snap(page, 'walt-step-up')
    await page.getByRole('button', { name: /WhatsApp/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(url, WALT, 'whatsapp'))
    // The code confirmed exactly this withdrawal, so it goes through.
    await page.waitForURL(`${url}/vault`)
    expect(await page.getByRole('main').textContent()).toContain('$3,280')
    await context.close()
  })

  it('offers otto, who only has an app, backup codes on a page, since they cannot be sent anywhere', async () => {
    const { page, context } = await newUser(browser, LOOKS['phone-light'])
    await passwordStep(page, url, 'otto')
    // With a single factor, the code page comes at once.
    expect(new URL(page.url()).pathname).toBe('/mfa/verify')
    await typeCode(page, appCode(OTTO_SECRET))
    await page.goto(`${url}/mfa/backup`)
    await snap(page, 'otto-backup')
    expect(await page.getByRole('button', { name: 'Show my codes' }).count()).toBe(1)
    expect(await page.getByRole('button', { name: /^Send them/ }).count()).toBe(0)
    await context.close()
  })

  it('lets mallory enroll an app, get backup codes and step up without scripts', async () => {
    const look = { ...LOOKS['phone-light'], javaScriptEnabled: false }
    const { page, context } = await newUser(browser, look)
    await passwordStep(page, url, 'mallory', '/account')
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(url, MALLORY, 'sms'))
    expect(new URL(page.url()).pathname).toBe('/account')

    await page.getByRole('link', { name: /Set up an authenticator app/ }).click()
    await page.getByRole('button').first().click()
    expect(await page.getByRole('main').textContent()).toContain('Add an authenticator app')
    clock.ahead(30)
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(url, MALLORY, 'sms'))
    expect(new URL(page.url()).pathname).toBe('/mfa/enroll-app')
    await page.getByRole('button').first().click()
    const { secret } = await scan(page)
    const confirm = async (code: string) => {
      await page.getByRole('textbox').fill(code)
      await page.getByRole('button', { name: 'Confirm' }).click()
    }
    await confirm('000000')
    await page.getByRole('alert').waitFor()
    await confirm(appCode(secret))
    await page.getByRole('heading', { name: 'Your app is ready' }).waitFor()
    await page.getByRole('link', { name: 'Get backup codes' }).click()
    // Without script, the codes are text and a file; a reload does not show them again, and offers new ones.
    const showCodes = async (name: string, seconds: number) => {
      await press(page, name)
      expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe(
        'Enter the code from your app',
      )
      expect(await page.getByRole('main').textContent()).toContain('Show new backup codes')
      clock.ahead(seconds)
      await typeCode(page, appCode(secret))
      expect(new URL(page.url()).pathname).toBe('/mfa/backup')
      await page.getByRole('button', { name: 'Show my codes' }).click()
    }
    await showCodes('Show my codes', 60)
    const codes = page.getByRole('listitem').getByText(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/)
    expect(await codes.count()).toBe(10)
    expect(await page.getByRole('button', { name: /Copy|Print/ }).count()).toBe(0)
    await page.reload()
    expect(await codes.count()).toBe(0)
    await snap(page, 'mallory-backup-codes-gone')
    await showCodes('Create new codes', 90)
    const code = (await codes.first().textContent()) ?? ''
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    const file = await readFile(await (await downloading).path(), 'utf8')
    expect(file.split('\r\n')).toContain(code)
    await snap(page, 'mallory-backup-codes')
    await page.getByRole('button', { name: 'I saved them' }).click()
    expect(await page.getByRole('main').textContent()).toContain('10 backup codes left')
    await page.goBack()
    expect(await codes.count()).toBe(0)

    clock.ahead(11 * 60)
    await page.goto(`${url}/vault`)
    await withdraw(page, 5)
    // The app was used last, so its page comes at once.
    expect(new URL(page.url()).pathname).toBe('/mfa/verify')
    await typeCode(page, appCode(secret))
    expect(new URL(page.url()).pathname).toBe('/mfa/resume')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('$5')
    await page.getByRole('button', { name: 'Send now', exact: true }).click()
    await page.waitForURL(`${url}/vault`)
    expect(await page.getByRole('main').textContent()).toContain('$8')
    await context.close()

    const next = await newUser(browser, look)
    await passwordStep(next.page, url, 'mallory')
    await next.page.getByRole('link', { name: /backup code/i }).click()
    await typeCode(next.page, code)
    expect(new URL(next.page.url()).pathname).toBe('/mfa/backup-codes-left')
    await next.context.close()
  })

  it('shows walt new backup codes once, to copy, print and download, and not again when he goes back', async () => {
    for (const [index, name] of (['phone-dark', 'desktop-light'] as const).entries()) {
      clock.ahead((index + 2) * 60 * 60)
      const { page, context } = await newUser(browser, LOOKS[name])
      await passwordStep(page, url, 'walt', '/account')
      await page.getByRole('button', { name: /WhatsApp/ }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await typeCode(page, await newestCode(url, WALT, 'whatsapp'))
      await page.goto(`${url}/mfa/backup`)
      await snap(page, `walt-backup-${name}`)
      await press(page, 'Show my codes')
      expect(new URL(page.url()).pathname).toBe('/mfa')
      expect(await page.getByRole('main').textContent()).toContain('Show new backup codes')
      await snap(page, `walt-backup-approval-${name}`)
      clock.ahead((index + 2) * 60 * 60 + 30)
      await page.getByRole('button', { name: /WhatsApp/ }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await typeCode(page, await newestCode(url, WALT, 'whatsapp'))
      expect(new URL(page.url()).pathname).toBe('/mfa/backup')
      await page.getByRole('button', { name: 'Show my codes' }).click()
      const codes = page.getByRole('listitem').getByText(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/)
      // The page's script shows the button when it has run.
      await page.getByRole('button', { name: 'Print' }).waitFor()
      expect(await codes.count()).toBe(10)
      await expect.poll(() => page.getByRole('link', { name: 'Download' }).isVisible()).toBe(true)
      await page.evaluate(() =>
        Object.assign(window, { print: () => Object.assign(window, { printed: true }) }),
      )
      await page.getByRole('button', { name: 'Print' }).click()
      expect(await page.evaluate(() => Reflect.get(window, 'printed'))).toBe(true)
      await snap(page, `walt-backup-codes-${name}`)
      await page.getByRole('button', { name: 'I saved them' }).click()
      // The browser cannot go back while it is still leaving the page.
      await page.waitForURL(({ pathname }) => !pathname.includes('backup'), { waitUntil: 'load' })
      await snap(page, `walt-factors-${name}`)
      await page.goBack()
      expect(await codes.count()).toBe(0)
      await context.close()
    }
  })

  it('lets alice read what it means to remove her app, go back, and then remove it and her backup codes', async () => {
    const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor()
    for (const [index, look] of (['phone-light', 'desktop-dark'] as const).entries()) {
      clock.ahead(44 * 60 + index * 30)
      const { page, context } = await newUser(browser, LOOKS[look])
      await passwordStep(page, url, 'alice')
      await page.getByRole('link', { name: /authenticator app/i }).click()
      await typeCode(page, appCode(ALICE_SECRET))
      await page.goto(`${url}/mfa`)
      await snap(page, `alice-factors-${look}`)
      const removal = page.getByRole('link', { name: 'Remove Authenticator app' })
      if (look === 'desktop-dark') {
        await page.getByRole('link', { name: 'Remove Backup codes' }).click()
        await heading(page, 'Remove your backup codes?')
        await snap(page, `alice-remove-codes-${look}`)
        await page.getByRole('button', { name: 'Remove' }).click()
        await page.getByText('Your backup codes were removed.').waitFor()
      }
      await removal.click()
      await heading(page, 'Remove your authenticator app?')
      expect(await page.getByRole('main').textContent()).toMatch(/is then enough to change these settings/)
      await snap(page, `alice-remove-app-${look}`)
      if (look === 'phone-light') {
        await page.getByRole('link', { name: 'Cancel' }).click()
        await heading(page, 'Two-step verification')
        expect(await removal.count()).toBe(1)
      } else {
        await page.getByRole('button', { name: 'Remove' }).click()
        await page.getByText('Your authenticator app was removed.').waitFor()
        expect(await removal.count()).toBe(0)
        await snap(page, `alice-app-removed-${look}`)
      }
      await context.close()
    }
    // Vault's own record follows, so the next sign-in asks for another factor.
    const { page, context } = await newUser(browser, LOOKS['phone-light'])
    await passwordStep(page, url, 'alice')
    await page
      .getByRole('button', { name: /code to/ })
      .first()
      .waitFor()
    expect(await page.getByRole('link', { name: /authenticator app|backup code/i }).count()).toBe(0)
    await context.close()
    const [notice] = (await messagesTo(url, 'alice@vault.example')).filter(({ text }) =>
      text.includes('was removed'),
    )
    expect(notice?.text).toContain('Authenticator app')
  })
})

async function withdraw(page: Page, amount: number): Promise<void> {
  await page.getByLabel(/Withdraw/).fill(String(amount))
  await press(page, 'Withdraw')
}
