import type { Browser } from 'playwright-core'
import { hasBrowser, openBrowser } from './chromium.js'
import { hasFirefox, openFirefox } from './firefox.js'
import { isLong } from './long.js'

interface BrowserKind {
  readonly name: 'Chromium' | 'Firefox'
  readonly isThere: boolean
  readonly open: () => Promise<Browser>
}

/** In which only what they have in common is shown. */
export const CHROMIUM: BrowserKind = { name: 'Chromium', isThere: hasBrowser, open: openBrowser }

/** The browsers that run what pages of apps import. */
export const BROWSERS: readonly BrowserKind[] = [
  CHROMIUM,
  { name: 'Firefox', isThere: hasFirefox, open: openFirefox },
]

/** The browsers for journeys through an app, of forms and of scripts that have tests of their own in each browser. */
export const BROWSERS_OF_APPS = isLong ? BROWSERS : [CHROMIUM]
