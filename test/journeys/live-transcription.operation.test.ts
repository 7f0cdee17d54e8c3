import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ffmpeg, GO_FORWARD } from '../../service/test/recordings.js'
import { axeViolations } from '../kit/axe.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { missing } from '../kit/debian-packages.js'
import { type TemporaryFolder, temporaryFolder } from '../kit/temporary-folder.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { type Journey, openJourney } from './kit/journey.js'
import { passwordStep } from './kit/vault.js'

const isMissing =
  missing('ffmpeg', 'python3-pocketsphinx', 'pocketsphinx-en-us', 'pocketsphinx-testdata') !== undefined

describe.skipIf(!hasBrowser || isMissing)('live speech in the example app', () => {
  let journey: Journey
  let url: string
  let browser: Browser
  let folder: TemporaryFolder

  beforeAll(async () => {
    folder = temporaryFolder()
    const microphone = `${folder.path}/microphone.wav`
    const source = ['-f', 's16le', '-ar', '16000', '-ac', '1', '-i', GO_FORWARD]
    // The file is repeated, so a pause must end the sentence.
    await ffmpeg(...source, '-af', 'apad=pad_dur=3', '-ar', '48000', microphone)
    journey = await openJourney({}, () => openBrowser({ microphone }))
    ;({ url, browser } = journey)
  })
  afterAll(async () => {
    await journey.close()
    folder.remove()
  })

  it.each(['phone-dark', 'desktop-light'] as const)('appears while it is spoken (%s)', async (look) => {
    const { page, context } = await newUser(browser, { ...LOOKS[look], permissions: ['microphone'] })
    const errors: string[] = []
    page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())))
    await passwordStep(page, url, 'nina', '/transcribe')
    await page.getByRole('button', { name: 'Start speaking' }).click()
    await page.getByText('Listening').waitFor()
    await expect.poll(() => page.locator('#live-partial').textContent()).toMatch(/^go/)
    await snap(page, `live-${look}-partial`)
    await expect.poll(() => page.locator('#live-final').textContent()).toContain('go forward ten meters')
    expect(
      await page.locator('#live-level').evaluate((meter: HTMLMeterElement) => meter.value),
    ).toBeGreaterThanOrEqual(0)
    expect(await axeViolations(page)).toEqual([])
    await snap(page, `live-${look}-final`)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Start speaking' }).waitFor()
    expect(await page.locator('#live-level').isVisible()).toBe(false)
    expect(await page.locator('#live-partial').textContent()).toBe('')
    await snap(page, `live-${look}-stopped`)
    expect(errors).toEqual([])
    await context.close()
  })

  it('says so when the microphone is blocked', async () => {
    const { page, context } = await newUser(browser)
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    })
    await passwordStep(page, url, 'nina', '/transcribe')
    await page.getByRole('button', { name: 'Start speaking' }).click()
    await page.getByText('The microphone is blocked').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Start speaking' }).isEnabled()).toBe(true)
    await snap(page, 'live-blocked')
    await context.close()
  })
})
