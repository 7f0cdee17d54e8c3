import jsqr from 'jsqr'
import type { Browser } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { qrImage } from '../../src/pages/qr-code.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { everyCase } from '../kit/every-case.js'
import { frame } from './samples.js'
import { servePage } from './serve-page.js'

const URI =
  'otpauth://totp/Vault:bob%40vault.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Vault&algorithm=SHA1&digits=6&period=30'

// jsqr is a CommonJS module whose types promise a default export of its own.
const decode = jsqr as unknown as typeof jsqr.default

/** The distance from the edge, in CSS pixels, within which the rounded corner of the frame is drawn. */
const CORNER_PX = 12

describe.skipIf(!hasBrowser)('the QR code on the page', () => {
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

  /** The pixels that the screen shows of the code. */
  async function picture(width: number, deviceScaleFactor: number) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, deviceScaleFactor })
    const page = await context.newPage()
    site.show({ page: 'enroll', uri: URI, secret: 'ABCD' }, { ...frame, purpose: 'manage' })
    await page.goto(site.url)
    const shown = PNG.sync.read(await page.getByRole('img', { name: /QR/ }).screenshot())
    await context.close()
    return shown
  }

  it('has pixels of two colors only, and can be read', () =>
    everyCase([1, 1.25, 1.5, 2, 2.625, 3], async (ratio) => {
      for (const width of [320, 390, 1280]) {
        const { data, width: side, height } = await picture(width, ratio)
        expect(decode(new Uint8ClampedArray(data), side, height)?.data).toBe(URI)
        const colors = new Set<string>()
        const margin = Math.ceil(CORNER_PX * ratio)
        for (let y = margin; y < height - margin; y++) {
          for (let x = margin; x < side - margin; x++) {
            colors.add(data.subarray((y * side + x) * 4, (y * side + x) * 4 + 3).join())
          }
        }
        expect([...colors].sort()).toEqual(['0,0,0', '255,255,255'])
      }
    }))

  it('begins where the text above it begins', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 900 } })
    site.show({ page: 'enroll', uri: URI, secret: 'ABCD' }, { ...frame, purpose: 'manage' })
    await page.goto(site.url)
    const code = await page.getByRole('img', { name: /QR/ }).boundingBox()
    const text = await page.evaluate<number>(`(() => {
      const range = document.createRange()
      const step = [...document.querySelectorAll('li')].find((one) => one.textContent.includes('Scan this QR code'))
      range.selectNode(document.createTreeWalker(step, NodeFilter.SHOW_TEXT).nextNode())
      return range.getBoundingClientRect().left
    })()`)
    expect(code?.x).toBe(text)
    await page.close()
  })

  it('has modules of the same size at every pixel ratio', () =>
    everyCase([1, 2, 3], async (ratio) => {
      const { data, width: side, height } = await picture(390, ratio)
      const runs = new Set<number>()
      const margin = Math.ceil(CORNER_PX * ratio)
      for (let y = margin; y < height - margin; y++) {
        let run = 0
        let isFirst = true
        for (let x = margin; x < side - margin; x++) {
          run++
          const at = (y * side + x) * 4
          if (data[at] === data[at + 4]) continue
          if (!isFirst) runs.add(run)
          isFirst = false
          run = 0
        }
      }
      expect([...runs].filter((run) => run % (4 * ratio) !== 0)).toEqual([])
      expect(runs.size).toBeGreaterThan(2)
    }))
})

describe('an image of a QR code', () => {
  it('is drawn from the otpauth: address as vectors, with its quiet zone', () => {
    const { src = '', side = 0 } = qrImage(URI, undefined) ?? {}
    expect(src).toMatch(/^data:image\/svg\+xml;base64,/)
    expect(side % 4).toBe(0)
    const svg = Buffer.from(src.split(',')[1] ?? '', 'base64').toString()
    expect(svg).toContain('shape-rendering="crispEdges"')
    expect(svg).toContain('<path d="M4 4h7v1H4z')
  })

  it('is the picture of the service as it is, if there is no otpauth: address', () =>
    everyCase([undefined, '', 'https://vault.example/enroll', 'javascript:alert(1)'], (uri) => {
      for (const url of [
        'data:image/png;base64,iVBORw0KGgo=',
        'data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=',
      ]) {
        expect(qrImage(uri, url)).toEqual({ src: url })
      }
    }))

  it('is never what is no picture', () =>
    everyCase(['https://tracker.example/qr.png', 'javascript:alert(1)', undefined], (url) => {
      expect(qrImage(undefined, url)).toBeUndefined()
    }))
})
