import { fileURLToPath } from 'node:url'
import { type Browser, firefox } from 'playwright-core'
import { fileOf, missing } from './debian-packages.js'

const COMMAND = fileURLToPath(new URL('./firefox-command.mjs', import.meta.url))

/** Whether Firefox is installed. In CI a missing browser is an error. */
export const hasFirefox = missing('firefox-esr') === undefined

/** How a Firefox differs from the default. */
export interface FirefoxOptions {
  /** Where it takes commands of `marionette`, and then has virtual authenticators. Defaults to none. */
  readonly marionettePort?: number
  /** The color scheme of its user, which no command changes. Defaults to `light`. */
  readonly colorScheme?: 'light' | 'dark'
}

/** Debian's Firefox, headless, without a profile. Playwright drives it with WebDriver BiDi, as Selenium does. */
export async function openFirefox({
  marionettePort,
  colorScheme = 'light',
}: FirefoxOptions = {}): Promise<Browser> {
  if (fileOf('firefox-esr') === undefined) throw new Error('There is no Firefox on this machine.')
  return await firefox.launch({
    channel: 'moz-firefox',
    executablePath: COMMAND,
    ...(marionettePort !== undefined && { args: ['--marionette'] }),
    firefoxUserPrefs: {
      'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1,
      // Processes for pages that may be opened next.
      'dom.ipc.processPrelaunch.enabled': false,
      ...(marionettePort !== undefined && {
        'marionette.port': marionettePort,
        'security.webauth.webauthn_enable_softtoken': true,
        'security.webauth.webauthn_enable_usbtoken': false,
      }),
    },
  })
}
