import { type Browser, chromium } from 'playwright-core'
import { fileOf, missing } from './debian-packages.js'

const path = fileOf('chromium-headless-shell')

// Chromium uses only the last --disable-features, so this list replaces that of Playwright.
const DISABLED_FEATURES = [
  // These make Chromium respond later, or differ from a newly installed browser.
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  // These send requests to the internet.
  'AimEnabled',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
  // These render the suggestions of the address bar with each page, at the cost of another page.
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
]

/** Whether the browser for tests is installed. In CI a missing browser is an error. */
export const hasBrowser = missing('chromium-headless-shell') === undefined

/** How a browser differs from the default. */
export interface BrowserOptions {
  /** The default font size. Defaults to 16. */
  readonly fontSizePx?: number
  /** The path of a WAV file that the microphone plays again and again. Defaults to none: then there is no microphone. */
  readonly microphone?: string
  /**
   * Whether nothing is clicked. Pages are then drawn in one thread, which takes a fifth less processor time, and in which a click
   * would never end. Defaults to false.
   */
  readonly isOnlyLookedAt?: boolean
}

/** A headless Chromium without a profile. */
export async function openBrowser({
  fontSizePx = 16,
  microphone,
  isOnlyLookedAt = false,
}: BrowserOptions = {}): Promise<Browser> {
  if (path === undefined) throw new Error('There is no Chromium on this machine.')
  return await chromium.launch({
    executablePath: path,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      ...(isOnlyLookedAt ? ['--disable-threaded-compositing'] : []),
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
      `--blink-settings=defaultFontSize=${fontSizePx}`,
      ...(microphone === undefined
        ? []
        : [
            '--use-fake-ui-for-media-stream',
            '--use-fake-device-for-media-stream',
            `--use-file-for-fake-audio-capture=${microphone}`,
          ]),
    ],
  })
}
