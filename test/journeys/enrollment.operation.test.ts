import { expect, it } from 'vitest'
import { SECOND, stopClock } from '../kit/clock.js'
import { appCode, scan } from './kit/authenticator.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeInBrowsersOfApps } from './kit/journey.js'
import { newestCode, passwordStep, typeCode } from './kit/vault.js'

const BOB = '+12025550122'

describeInBrowsersOfApps('the enrollment of an app in the example app', (app) => {
  it('lets bob enroll an app by its QR code, and use it at the next sign-in', async () => {
    const clock = stopClock()
    const { url, browser } = app
    const { page, context } = await newUser(browser, LOOKS['phone-dark'])
    await passwordStep(page, url, 'bob', '/account')
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(url, BOB, 'sms'))
    await page.getByRole('link', { name: /Set up an authenticator app/ }).click()
    await snap(page, 'bob-enroll-start')
    await page.getByRole('button').first().click()
    // The user approves the new app before its code is shown.
    await page.waitForURL(/\/mfa$/)
    expect(await page.getByRole('main').textContent()).toContain('Add an authenticator app')
    await snap(page, 'bob-enroll-approval')
    clock.move(30 * SECOND)
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, await newestCode(url, BOB, 'sms'))
    await page.waitForURL(/\/mfa\/enroll-app$/)
    await page.getByRole('button').first().click()
    await page.waitForLoadState()
    await snap(page, 'bob-enroll-qr')
    const { secret, issuer } = await scan(page)
    expect(issuer).toBe('Vault')
    expect((await page.getByRole('main').textContent())?.replaceAll(/\s/g, '')).toContain(secret)

    // The app does not count until a code of it was entered (R54); a wrong one changes nothing.
    await page.getByRole('textbox').fill('000000')
    await page.waitForLoadState()
    await page.getByRole('alert').waitFor()
    await snap(page, 'bob-enroll-wrong')
    const first = appCode(secret)
    await page.getByRole('textbox').fill(first)
    await page.getByRole('heading', { name: /ready|done|set up|on/i }).waitFor()
    await snap(page, 'bob-enrolled')
    await context.close()

    const next = await newUser(browser, LOOKS['phone-light'])
    await passwordStep(next.page, url, 'bob')
    await next.page.getByRole('link', { name: /authenticator app/i }).click()
    // The step that confirmed the app is used up (R51).
    await typeCode(next.page, first)
    expect(await next.page.getByRole('alert').textContent()).toMatch(/Wrong (or already used )?code/)
    clock.move(30 * SECOND)
    await typeCode(next.page, appCode(secret))
    expect(new URL(next.page.url()).pathname).toBe('/vault')
    await next.context.close()
  })
})
