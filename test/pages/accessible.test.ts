import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PageFrame, View } from '../../src/pages/view.js'
import { hasBrowser, openBrowser, servePage } from './browser.js'
import { ALL_VIEWS, manyTongued, problem } from './samples.js'

describe.skipIf(!hasBrowser)('a page in a real browser', () => {
  let browser: Browser
  let page: Page
  let site: Awaited<ReturnType<typeof servePage>>
  const complaints: string[] = []

  beforeAll(async () => {
    site = await servePage()
    browser = await openBrowser()
    page = await (await browser.newContext()).newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.emulateMedia({ reducedMotion: 'reduce' })
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** Opens a page with everything unfolded. */
  async function open(view: View, on: PageFrame, width: number): Promise<void> {
    complaints.length = 0
    site.show(view, on)
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(site.url)
    await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
  }

  async function objections(axe: AxeBuilder): Promise<readonly string[]> {
    const { violations } = await axe.analyze()
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  }

  it.each(ALL_VIEWS)('has nothing that axe objects to: %s', async (_, view) => {
    await open(view, { ...manyTongued, notice: problem('invalid_code', 60) }, 390)
    expect(await objections(new AxeBuilder({ page }))).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await objections(new AxeBuilder({ page }).withRules('color-contrast'))).toEqual([])
    expect(complaints).toEqual([])
  })

  it.each(ALL_VIEWS)('fits 320 pixels, also with long German words: %s', async (_, view) => {
    await open(view, { ...manyTongued, locales: ['de'] }, 320)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  })
})
