import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { qrImage } from '../../service/src/accounts/authenticator-app/qr-image.js'
import type { PageFrame, View } from '../../src/pages/view.js'
import { newUser } from '../journeys/kit/browser.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { codeView, FACTORS, factorOf, frame, keyPageOf, NOW, VIEWS } from './samples.js'
import { servePage } from './serve-page.js'

const FOLDER = new URL('../../docs/images/', import.meta.url)
const MAX_BYTES = 60_000
const WIDTH = 360

/** The distance between two shades of a color: a divisor of 255. */
const SHADE = 3

/** How much taller or lower a page may be with the fonts of another machine, in pixels of the picture. */
const HEIGHT_TOLERANCE = 120

/* The pictures in the README. `npm run screens` writes them again. */
describe.skipIf(!hasBrowser)('the pictures of the README', () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof servePage>>

  beforeAll(async () => {
    site = await servePage()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** The page that asks for a passkey, and beside it the page on which a payment is approved. */
  async function picture(colorScheme: 'light' | 'dark'): Promise<Buffer> {
    const { page, context } = await newUser(browser, { colorScheme, viewport: { width: WIDTH, height: 300 } })
    await page.clock.setFixedTime(NOW)
    const shot = async (name: 'passkey' | 'code-for-an-approval') => {
      site.show(PICTURED[name], { ...frame, appName: 'My shop', ...FRAMES[name] })
      await page.goto(site.url)
      return PNG.sync.read(await page.screenshot({ fullPage: true, caret: 'hide', animations: 'disabled' }))
    }
    const image = beside(await shot('passkey'), await shot('code-for-an-approval'))
    await context.close()
    return image
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

const URI = 'otpauth://totp/Vault:ana?secret=ABCDEFGHIJKLMNOPQRSTUVWX2345&issuer=Vault'

/** Every kind of page, under the name of its pictures. */
const PICTURED = {
  'choose-a-factor': VIEWS.choose,
  'code-by-sms': codeView(factorOf('sms'), { others: FACTORS }),
  'code-of-an-app': codeView(factorOf('app'), { others: FACTORS.slice(1) }),
  'code-for-an-approval': codeView(factorOf('sms'), { others: FACTORS }),
  'code-expired': VIEWS['code expired'],
  'code-not-delivered': VIEWS['code refused by the carrier'],
  'backup-code': VIEWS['backup code'],
  passkey: keyPageOf('passkey', { others: FACTORS }),
  'trust-this-browser': VIEWS['code with a box to tick'],
  'confirm-and-go-on': VIEWS.resume,
  'overview-of-factors': VIEWS['overview with factors to remove'],
  'set-up-an-app': VIEWS['enroll start'],
  'scan-the-code': {
    page: 'enroll',
    qr: `data:image/png;base64,${qrImage(URI)}`,
    uri: URI,
    secret: 'ABCDEFGHIJKLMNOPQRSTUVWX2345',
  },
  'app-is-set-up': VIEWS.enrolled,
  'request-backup-codes': VIEWS.backup,
  'backup-codes': VIEWS['backup codes'],
  'backup-codes-shown-before': VIEWS['backup codes shown before'],
  'backup-codes-sent': VIEWS['backup sent'],
  'few-backup-codes-left': VIEWS['few backup codes left'],
  'remove-a-factor': VIEWS['remove app'],
  'keys-and-passkeys': VIEWS.keys,
  'remove-a-key': VIEWS['remove a key'],
  'offer-of-a-passkey': VIEWS['offer of a passkey'],
  'trusted-devices': VIEWS.devices,
  'this-was-not-me': VIEWS['not me'],
  'account-is-secured': VIEWS.secured,
  'bypass-code': VIEWS['bypass code'],
  'request-a-recovery': VIEWS['recovery to request'],
  'recovery-waits': VIEWS['recovery that waits'],
  'cancel-a-recovery': VIEWS['cancel a recovery'],
  'recovery-canceled': VIEWS['recovery canceled'],
  locked: VIEWS.locked,
} satisfies Readonly<Record<string, View>>

/** The parts that a page has besides its view. */
const FRAMES: Readonly<Record<string, Partial<PageFrame>>> = {
  'code-for-an-approval': {
    purpose: 'step-up',
    approval: {
      id: 'a-1',
      lines: [
        { label: 'Amount', value: '€ 250.00' },
        { label: 'To', value: 'DE89370400440532013000' },
      ],
    },
  },
}

/* The pictures of every page, for the site. `npm run screens` writes them again. */
describe.skipIf(!hasBrowser)('the pictures of every page', () => {
  const folder = new URL('pages/', FOLDER)

  it('have the size of the pages as they are now', async () => {
    const site = await servePage()
    const browser = await openBrowser()
    try {
      const { page } = await newUser(browser, { viewport: { width: WIDTH, height: 300 } })
      const cdp = await page.context().newCDPSession(page)
      for (const [name, view] of Object.entries(PICTURED)) {
        site.show(view, { ...frame, ...FRAMES[name] })
        await page.clock.setFixedTime(NOW)
        await page.goto(site.url)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          const height = await page.evaluate<number>(
            // The field that has the focus may have been scrolled to.
            'Math.ceil(scrollY + document.body.getBoundingClientRect().bottom)',
          )
          const { data } = await cdp.send('Page.captureScreenshot', {
            format: 'webp',
            quality: 70,
            captureBeyondViewport: true,
            clip: { x: 0, y: 0, width: WIDTH, height, scale: 1 },
          })
          const file = new URL(`${name}-${colorScheme}.webp`, folder)
          if (process.env.WRITE_SCREENS) {
            await mkdir(folder, { recursive: true })
            await writeFile(file, Buffer.from(data, 'base64'))
          }
          const size = sizeOf(await readFile(file))
          expect([name, size.width]).toEqual([name, WIDTH])
          expect([name, Math.abs(size.height - height) < HEIGHT_TOLERANCE]).toEqual([name, true])
        }
      }
    } finally {
      await browser.close()
      await site.close()
    }
  })

  it('show each kind of page once, in light and in dark', async () => {
    const kinds = (views: readonly View[]) => [...new Set(views.map(({ page }) => page))].sort()
    expect(kinds(Object.values(PICTURED))).toEqual(kinds(Object.values(VIEWS)))
    const names = Object.keys(PICTURED).flatMap((name) => [`${name}-dark.webp`, `${name}-light.webp`])
    expect((await readdir(folder)).sort()).toEqual(names.sort())
  })
})

/** The size of a WebP picture with lossy compression, from its VP8 header (RFC 6386, 9.1). */
function sizeOf(webp: Buffer): { width: number; height: number } {
  const at = webp.indexOf('VP8 ') + 8 + 6
  return { width: webp.readUInt16LE(at) & 0x3fff, height: webp.readUInt16LE(at + 2) & 0x3fff }
}

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
