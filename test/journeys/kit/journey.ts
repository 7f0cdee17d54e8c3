import type { Browser } from 'playwright-core'
import { openBrowser } from '../../kit/chromium.js'
import { type Running, startApp, temporaryFolder } from './process.js'

/** The example app with data of its own, and a browser to see it with. */
export interface Journey {
  readonly app: Running
  readonly browser: Browser
  /** For files of the test's own; gone with the journey. */
  readonly folder: string
  close(): Promise<void>
}

/** Starts both; `env` is the app's environment, or makes it for the folder. */
export async function openJourney(
  env: Record<string, string> | ((folder: string) => Record<string, string>) = {},
): Promise<Journey> {
  const { path, dispose } = await temporaryFolder()
  const more = typeof env === 'function' ? env(path) : env
  const [app, browser] = await Promise.all([startApp({ DATA_DIR: path, ...more }), openBrowser()])
  return {
    app,
    browser,
    folder: path,
    async close() {
      await browser.close()
      await app.stop()
      await dispose()
    },
  }
}
