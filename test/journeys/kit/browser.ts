import { mkdir } from 'node:fs/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { PATIENCE_MS } from '../../kit/patience.js'

const SCREENS = new URL('../../../test-output/screens/', import.meta.url)

/** Sizes and color schemes of a browser. */
export const LOOKS = {
  'phone-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  'phone-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  'desktop-light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'desktop-dark': { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
} as const

/** A user in a new browser context, in English. */
export async function newUser(
  browser: Browser,
  look: Parameters<Browser['newContext']>[0] = LOOKS['phone-light'],
): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({ locale: 'en-GB', ...look })
  context.setDefaultTimeout(PATIENCE_MS)
  return { page: await context.newPage(), context }
}

/** Saves a screenshot of the page in `test-output/screens`, if the environment variable `SCREENS` is set. */
export async function snap(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENS) return
  await mkdir(SCREENS, { recursive: true })
  await page.screenshot({ path: new URL(`${name}.png`, SCREENS).pathname, fullPage: true })
}
