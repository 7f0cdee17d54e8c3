import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ffmpeg, goForwardAs, hasRealEngine } from '../../service/test/recordings.js'
import { hasBrowser } from '../kit/chromium.js'
import { type TemporaryFolder, temporaryFolder } from '../kit/temporary-folder.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { type Journey, openJourney } from './kit/journey.js'
import { passwordStep } from './kit/vault.js'

describe.skipIf(!hasBrowser || !hasRealEngine())('the transcription page of the example app', () => {
  let journey: Journey
  let url: string
  let browser: Browser
  let folder: TemporaryFolder
  let recording: string

  beforeAll(async () => {
    journey = await openJourney()
    ;({ url, browser } = journey)
    folder = temporaryFolder()
    recording = await goForwardAs('mp3', folder.path)
  })
  afterAll(async () => {
    await journey.close()
    folder.remove()
  })

  it('shows nina the progress and the text so far of a longer recording', async () => {
    const sentence = `${folder.path}/sentence.wav`
    await ffmpeg('-i', recording, '-af', 'apad=pad_dur=2', sentence)
    const longer = `${folder.path}/longer.wav`
    await ffmpeg('-stream_loop', '2', '-i', sentence, longer)
    const { page, context } = await newUser(browser, LOOKS['phone-dark'])
    await passwordStep(page, url, 'nina', '/transcribe')
    // The steps pass too quickly to wait for each.
    await page.locator('#step').evaluate((step) => {
      new MutationObserver(() => {
        step.setAttribute('data-seen', `${step.getAttribute('data-seen') ?? ''}|${step.textContent}`)
      }).observe(step, { childList: true })
    })
    await page.getByLabel('Audio or video file').setInputFiles(longer)
    await page.getByRole('button', { name: 'Transcribe' }).click()
    await page.getByText(/^(go forward ten meters ?){3}$/).waitFor()
    await page.getByRole('heading', { name: 'Transcript' }).waitFor()
    expect(await page.locator('#step').getAttribute('data-seen')).toMatch(
      /\|Sent 100 %\|Transcribing…\|Transcribed 0:02 of 0:14\|/,
    )
    await context.close()
  })

  it.each([
    ['phone-dark', true],
    ['desktop-light', false],
  ] as const)('shows nina the text of a chosen file (%s, scripts: %s)', async (look, javaScriptEnabled) => {
    const { page, context } = await newUser(browser, { ...LOOKS[look], javaScriptEnabled })
    const refused: string[] = []
    page.on('console', (message) => void (message.type() === 'error' && refused.push(message.text())))
    await passwordStep(page, url, 'nina', '/transcribe')
    await snap(page, `transcribe-${look}`)

    await page.getByLabel('Audio or video file').setInputFiles(recording)
    await page.getByRole('button', { name: 'Transcribe' }).click()
    if (javaScriptEnabled) {
      expect(await page.locator('#recording').getByRole('status').textContent()).toMatch(
        /Sending|Sent|Transcribing/,
      )
      await snap(page, `transcribe-${look}-progress`)
    }
    await page.getByText('go forward ten meters').waitFor()
    await snap(page, `transcribe-${look}-done`)
    await expect.poll(() => page.getByRole('button', { name: 'Transcribe' }).isEnabled()).toBe(true)

    await page.getByLabel('Or its https address').fill('https://127.0.0.1/a.mp3')
    await page.getByLabel('Audio or video file').setInputFiles([])
    await page.getByRole('button', { name: 'Transcribe' }).click()
    await page.getByText('This address cannot be used').waitFor()
    await snap(page, `transcribe-${look}-refused`)
    expect(refused.filter((text) => /security policy/i.test(text))).toEqual([])
    await context.close()
  })
})
