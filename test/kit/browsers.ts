import type { Browser } from 'playwright-core'
import { hasBrowser, openBrowser } from './chromium.js'
import { hasFirefox, openFirefox } from './firefox.js'

/** The browsers that run what pages of apps import. */
export const BROWSERS: readonly {
  readonly name: 'Chromium' | 'Firefox'
  readonly isThere: boolean
  readonly open: () => Promise<Browser>
}[] = [
  { name: 'Chromium', isThere: hasBrowser, open: openBrowser },
  { name: 'Firefox', isThere: hasFirefox, open: openFirefox },
]
