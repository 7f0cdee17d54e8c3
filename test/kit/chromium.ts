import { type Browser, chromium } from 'playwright-core'
import { fileOf, missing } from './debian-packages.js'

const path = fileOf('chromium-headless-shell')

// Chromium obeys only the last --disable-features, so these take the place of Playwright's own list.
const DISABLED_FEATURES = [
  // Would answer tests later, or otherwise than a browser that was just installed.
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  // Would ask hosts of the internet.
  'AimEnabled',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
  // Draw the suggestions of the address bar with each page, which costs as much as the page.
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
]

/** Whether there is a browser to test with. In CI its absence is an error. */
export const hasBrowser = missing('chromium-headless-shell') === undefined

/** A headless Chromium without a profile; its owner may have chosen larger letters than 16 pixels. */
export async function openBrowser({ lettersPx = 16 } = {}): Promise<Browser> {
  if (path === undefined) throw new Error('There is no Chromium on this machine.')
  return await chromium.launch({
    executablePath: path,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
      `--blink-settings=defaultFontSize=${lettersPx}`,
    ],
  })
}
