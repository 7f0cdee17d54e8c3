import type { Page } from 'playwright-core'
import { NOW } from './samples.js'

/** Lets a page to come see a clock that stands still until the test moves it, however long everything takes. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install({ time: NOW - 60_000 })
  // Installed, it goes on by itself.
  await page.clock.pauseAt(NOW)
}
