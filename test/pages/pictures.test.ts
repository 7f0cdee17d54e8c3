import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newUser } from '../journeys/kit/browser.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { host } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'

const FOLDER = new URL('../../docs/images/', import.meta.url)
const MAX_BYTES = 60_000
const WIDTH = 360

/** What is between two shades of a color: a divisor of 255. */
const SHADE = 3

/** How much taller or lower a page may be with the fonts of another machine, in pixels of the picture. */
const HEIGHT_TOLERANCE = 120

/* The pictures in the README. `npm run screens` writes them again. */
describe.skipIf(!hasBrowser)('the pictures of the README', () => {
  let browser: Browser
  let url = ''
  const server = createServer()

  beforeAll(async () => {
    const { app } = host({
      options: {
        appName: 'My shop',
        factors: () => [
          { method: 'app', user: 'bob@example.com' },
          { method: 'sms', phone: '+447700900102' },
          { method: 'email', email: 'bob@example.com' },
        ],
      },
    })
    server.on('request', app)
    url = `http://localhost:${await listenOnLoopback(server)}`
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    server.closeAllConnections()
    server.close()
  })

  const shot = async (page: Page) =>
    PNG.sync.read(await page.screenshot({ fullPage: true, caret: 'hide', animations: 'disabled' }))

  /** The page to choose a factor, and beside it the page to enter the code. */
  async function picture(colorScheme: 'light' | 'dark'): Promise<Buffer> {
    const viewport = { width: WIDTH, height: 300 }
    const { page, context } = await newUser(browser, { colorScheme, viewport })
    await page.goto(`${url}/secret`)
    await context.request.post(`${url}/login`, { form: { name: 'bob' } })
    await page.goto(`${url}/mfa`)
    const choice = await shot(page)
    await page.getByRole('button', { name: 'Text a code' }).click()
    await page.getByLabel('Verification code').waitFor()
    const code = await shot(page)
    await context.close()
    return beside(choice, code)
  }

  test.each(['light', 'dark'] as const)('are those of the pages as they are now, in %s', async (scheme) => {
    const image = await picture(scheme)
    expect(image.length).toBeLessThan(MAX_BYTES)
    const file = new URL(`pages-${scheme}.png`, FOLDER)
    if (process.env.WRITE_SCREENS) {
      await mkdir(FOLDER, { recursive: true })
      await writeFile(file, image)
    }
    const committed = await readFile(file)
    expect(committed.length).toBeLessThan(MAX_BYTES)
    const [now, then] = [PNG.sync.read(image), PNG.sync.read(committed)]
    expect(then.width).toBe(now.width)
    expect(Math.abs(then.height - now.height)).toBeLessThan(HEIGHT_TOLERANCE)
    expect(Math.abs(brightness(then) - brightness(now))).toBeLessThan(10)
    expect(brightness(then) > 128).toBe(scheme === 'light')
  })
})

/** Two pictures beside each other, on the background of the first. */
function beside(left: PNG, right: PNG): Buffer {
  const joined = new PNG({ width: left.width + right.width, height: Math.max(left.height, right.height) })
  const background = left.data.subarray(0, 4)
  for (let at = 0; at < joined.data.length; at += 4) joined.data.set(background, at)
  PNG.bitblt(left, joined, 0, 0, left.width, left.height, 0, 0)
  PNG.bitblt(right, joined, 0, 0, right.width, right.height, left.width, 0)
  // Fewer shades of the edges of letters make the file smaller.
  for (const [at, value] of joined.data.entries()) joined.data[at] = Math.round(value / SHADE) * SHADE
  return PNG.sync.write(joined, { colorType: 2, deflateLevel: 9, deflateStrategy: 0, filterType: 0 })
}

/** The mean of the red of all pixels. */
function brightness({ data, width, height }: PNG): number {
  let sum = 0
  for (let at = 0; at < data.length; at += 4) sum += data[at] ?? 0
  return sum / (width * height)
}
