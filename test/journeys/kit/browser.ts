import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const SCREENS = new URL('../../../test-output/screens/', import.meta.url)

/** How a page is looked at. */
export const LOOKS = {
  'phone-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  'phone-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  'desktop-light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'desktop-dark': { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
} as const

/**
 * Whether there is a browser to test with. Without one the journeys are left out on a person's machine, with a line
 * that says how to get it; where every change is judged, its absence is a failure.
 */
export function hasBrowser(): boolean {
  if (existsSync(CHROMIUM)) return true
  if (process.env.CI) throw new Error('The journeys need Chromium: apt-get install chromium')
  console.warn(
    'Journeys in a browser are left out: there is no Chromium. Get it with: apt-get install chromium',
  )
  return false
}

/** A Chromium without a profile. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** A person with a browser of their own, who speaks English. */
export async function newPerson(
  browser: Browser,
  look: Parameters<Browser['newContext']>[0] = LOOKS['phone-light'],
): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({ locale: 'en-GB', ...look })
  context.setDefaultTimeout(25_000)
  return { page: await context.newPage(), context }
}

/** Keeps a picture of the page, to be looked at. */
export async function snap(page: Page, name: string): Promise<void> {
  await mkdir(SCREENS, { recursive: true })
  await page.screenshot({ path: new URL(`${name}.png`, SCREENS).pathname, fullPage: true })
}
