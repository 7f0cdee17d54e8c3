import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stopClock } from '../kit/clock.js'
import { hasFirefox, openFirefox } from '../kit/firefox.js'
import { freePort } from '../kit/loopback.js'
import { marionette } from '../kit/marionette.js'
import { appCode } from './kit/authenticator.js'
import { newUser } from './kit/browser.js'
import { type Journey, openJourney } from './kit/journey.js'
import { passwordStep, press, typeCode } from './kit/vault.js'

const ALICE_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

/** A passkey provider of this device, which verifies the user. */
const PHONE = {
  protocol: 'ctap2_1',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserConsenting: true,
  isUserVerified: true,
}

describe.skipIf(!hasFirefox)('passkeys in the example app, in Firefox', () => {
  let journey: Journey
  let firefox: Awaited<ReturnType<typeof marionette>>
  beforeAll(async () => {
    const marionettePort = await freePort()
    journey = await openJourney({ MFA_PASSKEY_OFFER: '30d' }, () => openFirefox({ marionettePort }))
    firefox = await marionette(marionettePort)
  })
  afterAll(async () => {
    firefox?.close()
    await journey?.close()
  })

  it('lets alice add one after a code of her app, and sign in with it', async () => {
    stopClock()
    const { url, browser } = journey
    await firefox.send('WebAuthn:AddVirtualAuthenticator', PHONE)
    const { page, context } = await newUser(browser, {})
    await passwordStep(page, url, 'alice', '/account')
    await page.getByRole('link', { name: /authenticator app/i }).click()
    await typeCode(page, appCode(ALICE_SECRET))
    expect(await page.getByRole('heading').textContent()).toBe('Sign in without a code next time')
    await press(page, 'Add a passkey')
    expect(await page.getByRole('status').first().textContent()).toBe('Your key was added.')

    await page.goto(`${url}/account`)
    await press(page, 'Sign out')
    await passwordStep(page, url, 'alice')
    expect(await page.getByRole('heading').first().textContent()).toBe('Use your passkey')
    await press(page, 'Continue')
    expect(new URL(page.url()).pathname).toBe('/vault')
    await context.close()
  })
})
