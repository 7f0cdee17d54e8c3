import { createServer } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { openTestVault } from '../../../example-app/test/kit.js'
import { hasBrowser, openBrowser } from '../../kit/chromium.js'
import { listenOnLoopback } from '../../kit/loopback.js'
import { temporaryFolder } from '../../kit/temporary-folder.js'
import { startApp } from './process.js'

/** The example app with data of its own, and a browser. */
export interface Journey {
  /** Where the app listens, e.g. `http://localhost:40123`. */
  readonly url: string
  readonly browser: Browser
  close(): Promise<void>
}

/**
 * Runs the example app in this process, with everything real but the cost of a password hash. That saves a process and
 * seconds of hashing, and makes no difference to the browser.
 */
export async function openJourney(
  env: Record<string, string> = {},
  open: () => Promise<Browser> = openBrowser,
): Promise<Journey> {
  const server = createServer()
  const url = `http://localhost:${await listenOnLoopback(server)}`
  const [vault, browser] = await Promise.all([openTestVault({ PUBLIC_URL: url, ...env }), open()])
  server.on('request', vault.app)
  vault.attach(server)
  return {
    url,
    browser,
    async close() {
      await browser.close()
      server.closeAllConnections()
      server.close()
      await vault.close()
    },
  }
}

/** Starts the built example app as users do; `env` is its environment, or makes it for the app's data folder. */
export async function openProcessJourney(
  env: Record<string, string> | ((folder: string) => Record<string, string>) = {},
): Promise<Journey> {
  const { path, remove } = temporaryFolder()
  const more = typeof env === 'function' ? env(path) : env
  const [app, browser] = await Promise.all([startApp({ DATA_DIR: path, ...more }), openBrowser()])
  return {
    url: app.url,
    browser,
    async close() {
      await browser.close()
      await app.stop()
      remove()
    },
  }
}

/** The tests of a journey, which share an example app and a browser. They are skipped where there is no browser. */
export function describeJourney(
  title: string,
  define: (app: Pick<Journey, 'url' | 'browser'>) => void,
  open: () => Promise<Journey> = openJourney,
): void {
  describe.skipIf(!hasBrowser)(title, () => {
    let journey: Journey | undefined
    const opened = () => {
      if (!journey) throw new Error('The app is not open before the first test.')
      return journey
    }
    beforeAll(async () => {
      journey = await open()
    })
    afterAll(() => journey?.close())
    define({
      get url() {
        return opened().url
      },
      get browser() {
        return opened().browser
      },
    })
  })
}
