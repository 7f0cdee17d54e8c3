import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PageFrame, View } from '../../src/pages/view.js'
import { everyCase } from '../kit/every-case.js'
import { hasFirefox, openFirefox } from '../kit/firefox.js'
import { isLong } from '../kit/long.js'
import { pageFaults } from '../kit/page-checks.js'
import { watchPolicy } from '../kit/policy.js'
import { ALL_VIEWS, framesOf, manyTongued, OTHER_STATES, problem } from './samples.js'
import { servePage } from './serve-page.js'

const NARROW = { width: 320, height: 700 }

// The rules of axe are about the document and its colors, which Chromium has checked.
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

  /** Shows pages on a narrow phone, with everything unfolded. */
  async function opener() {
    const context = await browser.newContext({ viewport: NARROW, reducedMotion: 'reduce' })
    const refused = await watchPolicy(context)
    const page = await context.newPage()
    const open = async (view: View, on: PageFrame): Promise<void> => {
      site.show(view, on)
      await page.goto(site.url)
      await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
    }
    const faults = async () => [...(await pageFaults(page)), ...refused]
    return { open, faults }
  }

  const views = [
    ...ALL_VIEWS.map(([name, view]) => [name, view, { message: problem('invalid_code', 60) }] as const),
    ...OTHER_STATES,
  ]

  it('fits a narrow phone, leads on, offers no choice of one and keeps to its policy, whatever it shows', async () => {
    const { open, faults } = await opener()
    await everyCase(views, async ([, view, state]) => {
      await open(view, { ...manyTongued, ...state })
      expect(await faults()).toEqual([])
    })
  })

  // Chromium shows each page in all of them.
  it.runIf(isLong)(
    'fits a narrow phone, leads on and offers no choice of one in a step-up, among the factors of a user and without a sign-in',
    async () => {
      const { open, faults } = await opener()
      const shown = ALL_VIEWS.flatMap(([, view]) => framesOf(view).map((on) => [view, on] as const))
      await everyCase(shown, async ([view, on]) => {
        await open(view, on)
        expect(await faults()).toEqual([])
      })
    },
  )
})
