import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PageFrame, View } from '../../src/pages/view.js'
import { axeViolations } from '../kit/axe.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { everyCase } from '../kit/every-case.js'
import { pageFaults, WIDER_THAN_THEIR_PLACE } from '../kit/page-checks.js'
import { watchPolicy } from '../kit/policy.js'
import {
  ALL_VIEWS,
  codeView,
  factorOf,
  framesOf,
  manyTongued,
  OTHER_STATES,
  problem,
  VIEWS,
} from './samples.js'
import { servePage } from './serve-page.js'

/** The looks besides the light one, in which colors differ. */
const OTHER_LOOKS = [
  { colorScheme: 'dark', contrast: 'no-preference' },
  { colorScheme: 'dark', contrast: 'more' },
  { colorScheme: 'light', contrast: 'more' },
] as const

/** A phone, and a screen of 1280 by 800 pixels at a zoom of 200 % and without one. */
const SCREENS = [
  { width: 360, height: 740 },
  { width: 640, height: 400 },
  { width: 1280, height: 800 },
]

/** The elements that a user reaches with the Tab key, if they are rendered. */
const CONTROLS = `[...document.querySelectorAll('a[href], button:not(:disabled), input:not([type=hidden]), summary')]
  .filter((one) => one.checkVisibility())`

describe.skipIf(!hasBrowser)('a page in a real browser', () => {
  let browser: Browser
  let page: Page
  let site: Awaited<ReturnType<typeof servePage>>
  const complaints: string[] = []

  beforeAll(async () => {
    site = await servePage()
    browser = await openBrowser({ isOnlyLookedAt: true })
    const context = await browser.newContext()
    await watchPolicy(context)
    page = await context.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.emulateMedia({ reducedMotion: 'reduce' })
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** Opens a page with everything unfolded. */
  async function open(view: View, on: PageFrame, width: number): Promise<void> {
    complaints.length = 0
    site.show(view, on)
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(site.url)
    await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
  }

  /** The violations of axe in the light look, and those of colors in all others. */
  async function violationsInAllLooks(): Promise<readonly string[]> {
    const found = [...(await axeViolations(page))]
    for (const look of OTHER_LOOKS) {
      await page.emulateMedia(look)
      found.push(...(await axeViolations(page, 'color-contrast')))
    }
    await page.emulateMedia({ colorScheme: 'light', contrast: 'no-preference' })
    return found
  }

  it.each(ALL_VIEWS)('passes axe and fits every screen: %s', async (_, view) => {
    await open(view, { ...manyTongued, message: problem('invalid_code', 60) }, 390)
    expect(await violationsInAllLooks()).toEqual([])
    for (const screen of SCREENS) {
      await page.setViewportSize(screen)
      expect(await page.evaluate(WIDER_THAN_THEIR_PLACE)).toEqual([])
    }
    expect(complaints).toEqual([])
  })

  it.each(ALL_VIEWS)('leads on, and offers no choice of one: %s', (_, view) =>
    everyCase(framesOf(view), async (on) => {
      site.show(view, on)
      await page.goto(site.url)
      expect(await pageFaults(page)).toEqual([])
    }),
  )

  it.each(ALL_VIEWS)('can be used with the keyboard alone: %s', async (_, view) => {
    await open(view, { ...manyTongued, message: problem('invalid_code', 60) }, 390)
    // The code field has the focus already, and the Tab key would start from there.
    await page.evaluate('document.body.tabIndex = -1; document.body.focus()')
    const count =
      await page.evaluate<number>(`(globalThis.focused = [], addEventListener('focusin', ({ target }) =>
      focused.push([${CONTROLS}.indexOf(target), parseFloat(getComputedStyle(target).outlineWidth) >= 2])), ${CONTROLS}.length)`)
    for (let nth = 0; nth < count; nth++) await page.keyboard.press('Tab')
    // In the order of the document, with an outline of at least 2 pixels (WCAG 2.4.3, 2.4.7).
    expect(await page.evaluate('focused')).toEqual(Array.from({ length: count }, (_, nth) => [nth, true]))
  })

  it.each(ALL_VIEWS)('submits its primary form with Enter: %s', async (_, view) => {
    await open(view, manyTongued, 390)
    const form = page.locator('main form:has(.mfa-primary:not(:disabled))').first()
    if ((await form.count()) === 0) return
    // The script requests options before it submits the form of a key.
    const path = (await form.getAttribute('data-mfa-options')) ?? (await form.getAttribute('action'))
    const field = form.locator('input:not([type=hidden]):not([type=checkbox])')
    if ((await field.count()) > 0) await field.fill('12')
    const target = (await field.count()) > 0 ? field : form.locator('.mfa-primary')
    const posted = page.waitForRequest((request) => request.method() === 'POST')
    await target.press('Enter')
    expect(new URL((await posted).url()).pathname).toBe(path)
  })

  it.each(OTHER_STATES)(
    'passes axe, fits a phone and leads on in other states: %s',
    async (_, view, state) => {
      await open(view, { ...manyTongued, ...state }, 320)
      expect(await pageFaults(page)).toEqual([])
      expect(await violationsInAllLooks()).toEqual([])
      expect(complaints).toEqual([])
    },
  )

  it('uses colors and corners of the host’s style sheet', async () => {
    const look = () =>
      page.evaluate<string[]>(
        `[getComputedStyle(document.querySelector('.mfa-primary')).backgroundColor, getComputedStyle(document.querySelector('main')).borderRadius]`,
      )
    site.brand(':root { --mfa-accent: rgb(1 2 3); --mfa-radius: 3px }')
    await open(codeView(factorOf('sms')), manyTongued, 390)
    const ours = await look()
    await open(codeView(factorOf('sms')), { ...manyTongued, stylesheet: '/brand.css' }, 390)
    expect(await look()).toEqual(['rgb(1, 2, 3)', '3px'])
    expect(ours).not.toContain('rgb(1, 2, 3)')
  })

  it.each(ALL_VIEWS)('fits 320 pixels, also with long German words: %s', async (_, view) => {
    await open(view, { ...manyTongued, locales: ['de'] }, 320)
    expect(await page.evaluate(WIDER_THAN_THEIR_PLACE)).toEqual([])
  })

  it('does not move for users who prefer reduced motion', async () => {
    const moving = `[...document.querySelectorAll('*')].filter((one) => getComputedStyle(one).transitionDuration !== '0s').length`
    await open(VIEWS.choose, manyTongued, 390)
    expect(await page.evaluate(moving)).toBe(0)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await page.evaluate(moving)).toBeGreaterThan(0)
    await page.emulateMedia({ reducedMotion: 'reduce' })
  })

  it('keeps what it shows by color in forced-colors mode', async () => {
    await page.emulateMedia({ forcedColors: 'active' })
    await open(VIEWS.choose, manyTongued, 390)
    expect(
      await page.evaluate(`getComputedStyle(document.querySelector('.mfa-choice-preferred')).borderWidth`),
    ).toBe('3px')
    await open(codeView(factorOf('sms')), manyTongued, 390)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.mfa-primary')).borderWidth`)).toBe(
      '1px',
    )
    await open(VIEWS.devices, manyTongued, 390)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.mfa-here')).borderWidth`)).toBe(
      '1px',
    )
    await page.emulateMedia({ forcedColors: 'none' })
  })

  it('is mirrored for a language that is written from right to left', async () => {
    site.show(VIEWS.choose, { ...manyTongued, locales: ['ar'] })
    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(site.url)
    expect(await page.evaluate(WIDER_THAN_THEIR_PLACE)).toEqual([])
    const [icon, text] = await page.evaluate<number[]>(
      `['.mfa-icon', '.mfa-choice-text'].map((part) => document.querySelector('.mfa-choice ' + part).getBoundingClientRect().left)`,
    )
    expect(icon).toBeGreaterThan(text ?? 0)
  })
})

describe.skipIf(!hasBrowser)('a page without scripts', () => {
  let browser: Browser
  let page: Page
  let site: Awaited<ReturnType<typeof servePage>>

  beforeAll(async () => {
    site = await servePage()
    browser = await openBrowser({ isOnlyLookedAt: true })
    page = await browser.newPage({ javaScriptEnabled: false })
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  it.each(ALL_VIEWS)('has no control that needs one: %s', async (_, view) => {
    site.show(view, manyTongued)
    await page.goto(site.url)
    expect(
      await page.evaluate(`[...document.querySelectorAll('button')]
        .filter((one) => one.checkVisibility() && (one.type !== 'submit' || one.form?.getAttribute('method') !== 'post' || !one.form.getAttribute('action')))
        .map((one) => one.outerHTML)`),
    ).toEqual([])
  })
})

describe.skipIf(!hasBrowser)('a page with letters twice as large', () => {
  let browser: Browser
  let page: Page
  let site: Awaited<ReturnType<typeof servePage>>

  beforeAll(async () => {
    site = await servePage()
    browser = await openBrowser({ fontSizePx: 32, isOnlyLookedAt: true })
    page = await browser.newPage({ viewport: { width: 390, height: 800 } })
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  it.each(ALL_VIEWS)('fits a phone: %s', async (_, view) => {
    site.show(view, { ...manyTongued, message: problem('invalid_code', 60) })
    await page.goto(site.url)
    await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
    expect(await page.evaluate(`getComputedStyle(document.body).fontSize`)).toBe('32px')
    expect(await page.evaluate(WIDER_THAN_THEIR_PLACE)).toEqual([])
  })
})
