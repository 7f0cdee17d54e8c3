import { fileURLToPath } from 'node:url'
import { type Browser, firefox } from 'playwright-core'
import { fileOf, missing } from './debian-packages.js'

const COMMAND = fileURLToPath(new URL('./firefox-command.mjs', import.meta.url))

/** Whether Firefox is installed. In CI a missing browser is an error. */
export const hasFirefox = missing('firefox-esr') === undefined

/** Debian's Firefox, headless, without a profile. Playwright drives it with WebDriver BiDi, as Selenium does. */
export async function openFirefox(): Promise<Browser> {
  if (fileOf('firefox-esr') === undefined) throw new Error('There is no Firefox on this machine.')
  return await firefox.launch({ channel: 'moz-firefox', executablePath: COMMAND })
}
