import { mkdir } from 'node:fs/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect, onTestFinished, TestRunner } from 'vitest'
import { PATIENCE_MS } from '../../kit/patience.js'
import { watchPolicy } from '../../kit/policy.js'

const SCREENS = new URL('../../../test-output/screens/', import.meta.url)

/** Sizes and color schemes of a browser. */
export const LOOKS = {
  'phone-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  'phone-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  'desktop-light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'desktop-dark': { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
} as const

/** The style that Playwright adds for a screenshot. No script of a page could: the policy refuses `eval`, too. */
const OF_SCREENSHOT = /style-src-elem inline \S*%20%3E%20eval$/

/**
 * A user in a new browser context, in English. `refused` is what the Content-Security-Policy of a page refused, for which the test that
 * opened it fails.
 */
export async function newUser(
  browser: Browser,
  look: Parameters<Browser['newContext']>[0] = LOOKS['phone-light'],
): Promise<{ page: Page; context: BrowserContext; refused: readonly string[] }> {
  const context = await browser.newContext({ locale: 'en-GB', ...look })
  context.setDefaultTimeout(PATIENCE_MS)
  const refused = await watchPolicy(context)
  if (TestRunner.getCurrentTest())
    onTestFinished(() => expect(refused.filter((line) => !OF_SCREENSHOT.test(line))).toEqual([]))
  return { page: await context.newPage(), context, refused }
}

/** Saves a screenshot of the page in `test-output/screens`, if the environment variable `SCREENS` is set. */
export async function snap(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENS) return
  await mkdir(SCREENS, { recursive: true })
  await page.screenshot({ path: new URL(`${name}.png`, SCREENS).pathname, fullPage: true })
}
