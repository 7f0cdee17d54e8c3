import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { appCode, scan } from './kit/authenticator.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { describeJourney } from './kit/journey.js'
import { passwordStep, typeCode } from './kit/vault.js'

const textOf = async (page: Page) => (await page.getByRole('main').textContent()) ?? ''

describeJourney('wrong codes in the example app', (app) => {
  it.each([true, false])('are not counted again by a reload (scripts: %s)', async (javaScriptEnabled) => {
    const { page, context } = await newUser(app.browser, { ...LOOKS['phone-light'], javaScriptEnabled })
    await passwordStep(page, app.url, javaScriptEnabled ? 'bob' : 'mallory')
    await page.getByRole('button', { name: /Text a code/ }).click()
    await page.waitForURL(/\/mfa\/verify/)
    await typeCode(page, '000000')
    for (let again = 0; again < 6; again++) {
      expect(await textOf(page)).toContain('You have 4 attempts left.')
      await page.reload()
    }
    for (let nth = 0; nth < 4; nth++) await typeCode(page, '000000')
    await snap(page, `too-many-wrong-codes-${javaScriptEnabled}`)
    const fifth = await textOf(page)
    expect(fifth).toContain('Too many wrong codes')
    expect(await page.getByRole('textbox').count()).toBe(0)
    await page.reload()
    expect(await textOf(page)).toContain('Too many wrong codes')
    await context.close()
  })

  it('keep the QR code in sight while nina sets up an app', async () => {
    const { page, context } = await newUser(app.browser, LOOKS['phone-dark'])
    await passwordStep(page, app.url, 'nina', '/account')
    await page.goto(`${app.url}/mfa/enroll-app`)
    await page.getByRole('button').first().click()
    await page.waitForURL(/\/mfa\/enroll-app\/confirm/)
    const { secret } = await scan(page)
    await page.reload()
    expect((await scan(page)).secret).toBe(secret)
    await page.getByRole('textbox').fill('000000')
    await page.getByRole('alert').waitFor()
    await snap(page, 'enroll-wrong-code')
    expect((await scan(page)).secret).toBe(secret)
    await page.getByRole('textbox').fill(appCode(secret))
    await page.getByRole('heading', { name: 'Your app is ready' }).waitFor()
    await page.reload()
    expect(await textOf(page)).toContain('Your app is ready')
    await context.close()
  })
})
