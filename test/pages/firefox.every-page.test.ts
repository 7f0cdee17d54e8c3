import axe from 'axe-core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PageFrame, View } from '../../src/pages/view.js'
import { axeViolations } from '../kit/axe.js'
import { everyCase } from '../kit/every-case.js'
import { hasFirefox, openFirefox } from '../kit/firefox.js'
import { pageFaults } from '../kit/page-checks.js'
import { ALL_VIEWS, framesOf, manyTongued, OTHER_STATES, problem } from './samples.js'
import { servePage } from './serve-page.js'

const NARROW = { width: 320, height: 700 }

describe.skipIf(!hasFirefox).each(['light', 'dark'] as const)('a page in a %s Firefox', (colorScheme) => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof servePage>>

  beforeAll(async () => {
    site = await servePage()
    browser = await openFirefox({ colorScheme })
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** A narrow phone, whose `open` shows a page with everything unfolded. With `script`, each page has it from its beginning. */
  async function newPhone(script?: string) {
    const context = await browser.newContext({ viewport: NARROW, reducedMotion: 'reduce' })
    if (script !== undefined) await context.addInitScript(script)
    const page = await context.newPage()
    const open = async (view: View, on: PageFrame): Promise<void> => {
      site.show(view, on)
      await page.goto(site.url)
      await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
    }
    return { page, open }
  }

  const views = [
    ...ALL_VIEWS.map(([name, view]) => [name, view, { message: problem('invalid_code', 60) }] as const),
    ...OTHER_STATES,
  ]

  // Only colors differ.
  if (colorScheme === 'dark') {
    it('has enough contrast, whatever it shows', async () => {
      const { page, open } = await newPhone(axe.source)
      await everyCase(views, async ([, view, state]) => {
        await open(view, { ...manyTongued, ...state })
        expect(await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches')).toBe(true)
        expect(await axeViolations(page, 'color-contrast')).toEqual([])
      })
    })
    return
  }

  it('passes axe, fits a narrow phone, leads on and offers no choice of one, whatever it shows', async () => {
    const { page, open } = await newPhone(axe.source)
    await everyCase(views, async ([, view, state]) => {
      await open(view, { ...manyTongued, ...state })
      expect(await axeViolations(page)).toEqual([])
      expect(await pageFaults(page)).toEqual([])
    })
  })

  it('fits a narrow phone, leads on and offers no choice of one in a step-up, among the factors of a user and without a sign-in', async () => {
    // Without axe, pages load in half of the time.
    const { page, open } = await newPhone()
    await everyCase(ALL_VIEWS, ([, view]) =>
      everyCase(framesOf(view), async (on) => {
        await open(view, on)
        expect(await pageFaults(page)).toEqual([])
      }),
    )
  })
})
