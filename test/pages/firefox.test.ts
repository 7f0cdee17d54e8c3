import axe from 'axe-core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axeViolations } from '../kit/axe.js'
import { everyCase } from '../kit/every-case.js'
import { hasFirefox, openFirefox } from '../kit/firefox.js'
import { CHOICES_OF_ONE, MISSING_FRAGMENTS, WAYS_ON, WIDER_THAN_THEIR_PLACE } from '../kit/page-checks.js'
import { ALL_VIEWS, manyTongued, problem } from './samples.js'
import { servePage } from './serve-page.js'

const NARROW = { width: 320, height: 700 }

describe.skipIf(!hasFirefox)('a page in Firefox', () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof servePage>>

  beforeAll(async () => {
    site = await servePage()
    browser = await openFirefox()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  it('passes axe, fits a narrow phone, leads on and offers no choice of one, whatever it shows', async () => {
    const context = await browser.newContext({ viewport: NARROW, reducedMotion: 'reduce' })
    // Sent once, and not for each page.
    await context.addInitScript(axe.source)
    const page = await context.newPage()
    await everyCase(ALL_VIEWS, async ([, view]) => {
      site.show(view, { ...manyTongued, message: problem('invalid_code', 60) })
      await page.goto(site.url)
      await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
      expect(await axeViolations(page)).toEqual([])
      expect(
        await page.evaluate(`[${WIDER_THAN_THEIR_PLACE}, ${MISSING_FRAGMENTS}, ${CHOICES_OF_ONE}].flat()`),
      ).toEqual([])
      expect(await page.evaluate(WAYS_ON)).not.toEqual([])
    })
  })
})
