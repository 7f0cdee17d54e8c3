import { createServer } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { INBOX_KEY, openTestVault } from '../../../example-app/test/kit.js'
import { BROWSERS, BROWSERS_OF_APPS, CHROMIUM } from '../../kit/browsers.js'
import { openBrowser } from '../../kit/chromium.js'
import { isLong } from '../../kit/long.js'
import { listenOnLoopback } from '../../kit/loopback.js'
import { temporaryFolder } from '../../kit/temporary-folder.js'
import { startApp } from './process.js'

/** The example app with data of its own, and a browser. */
export interface Journey {
  /** Where the app listens, e.g. `http://localhost:40123`. */
  readonly url: string
  readonly browser: Browser
  /** Stops the service inside an app in this process, which goes on without it. */
  stopService?(): Promise<void>
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
    stopService: vault.stopService,
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
  const [app, browser] = await Promise.all([
    startApp({ DATA_DIR: path, SERVICE_INBOX_KEY: INBOX_KEY, ...more }),
    openBrowser(),
  ])
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

/** The parts that the tests of a journey share. */
interface SharedJourney extends Required<Pick<Journey, 'url' | 'browser' | 'stopService'>> {
  /** Whether pages can be opened without scripts in this browser. */
  readonly canDisableScripts: boolean
  /** Whether color scheme and contrast of an open page can be changed in this browser. */
  readonly canChangeLooks: boolean
  /** Whether this browser also shows what is the same in every browser: Firefox only in `npm run test:long`. */
  readonly isWhole: boolean
}

/**
 * The tests of a journey, which share an example app and a browser: Chromium, or each of `browsers`. They are skipped where there is no
 * such browser.
 */
export function describeJourney(
  title: string,
  define: (app: SharedJourney) => void,
  open: (browser: () => Promise<Browser>) => Promise<Journey> = (browser) => openJourney({}, browser),
  browsers: typeof BROWSERS = [CHROMIUM],
): void {
  for (const { name, isThere, open: openOne } of browsers) {
    describe.skipIf(!isThere)(name === 'Chromium' ? title : `${title}, in ${name}`, () => {
      let journey: Journey | undefined
      const opened = () => {
        if (!journey) throw new Error('The app is not open before the first test.')
        return journey
      }
      beforeAll(async () => {
        journey = await open(openOne)
      })
      afterAll(() => journey?.close())
      define({
        // Firefox has no commands for them.
        canDisableScripts: name === 'Chromium',
        canChangeLooks: name === 'Chromium',
        isWhole: name === 'Chromium' || isLong,
        stopService: async () => opened().stopService?.(),
        get url() {
          return opened().url
        },
        get browser() {
          return opened().browser
        },
      })
    })
  }
}

/** As `describeJourney`, in Chromium and in Firefox. */
export function describeInEveryBrowser(title: string, define: (app: SharedJourney) => void): void {
  describeJourney(title, define, undefined, BROWSERS)
}

/** As `describeJourney`, in each of `BROWSERS_OF_APPS`. */
export function describeInBrowsersOfApps(title: string, define: (app: SharedJourney) => void): void {
  describeJourney(title, define, undefined, BROWSERS_OF_APPS)
}
