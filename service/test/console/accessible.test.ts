import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { LOOKS, snap } from '../../../test/journeys/kit/browser.js'
import { axeViolations } from '../../../test/kit/axe.js'
import { hasBrowser, openBrowser } from '../../../test/kit/chromium.js'
import { stopClock } from '../kit.js'
import { consoleInEveryState, faultsOf, OWN, openState, type State } from './every-state.js'
import type { ServedConsole } from './kit.js'

/** States that together have every color. */
const COLORED = ['overview', 'keys', 'messages', 'numbers', 'operators']

describe.skipIf(!hasBrowser)('every state of the console', () => {
  let console: ServedConsole
  let browser: Browser
  let page: Page
  let url = ''
  let states: readonly State[] = []
  const links = new Map<string, string>()
  beforeAll(async () => {
    stopClock()
    const every = await consoleInEveryState()
    ;({ console, states } = every)
    url = console.url
    browser = await openBrowser()
    page = await every.open(browser)
  })
  afterAll(async () => {
    await browser?.close()
    await console?.close()
    vi.useRealTimers()
  })

  test('passes axe in both color schemes, fits every screen, leads on, and offers no choice of one', async () => {
    const faults: unknown[] = []
    for (const state of states) {
      const [name, , status = 200] = state
      await page.emulateMedia({ colorScheme: 'light' })
      await openState(page, url, state)
      const found = [...(await faultsOf(page, state))]
      if (COLORED.includes(name)) {
        await page.emulateMedia({ colorScheme: 'dark' })
        found.push(...(await axeViolations(page, 'color-contrast')))
      }
      if (found.length > 0) faults.push([name, found])
      const hrefs = await page.evaluate<string[]>(
        '[...document.querySelectorAll("main a[href], nav a[href]")].map((one) => one.href)',
      )
      for (const href of hrefs)
        if (href.startsWith(url) && status === 200) links.set(href.slice(url.length), name)
      await picture(name)
    }
    expect(faults).toEqual([])
  })

  /** Every state in all looks, to be looked at. */
  async function picture(name: string): Promise<void> {
    if (!process.env.SCREENS) return
    for (const [look, { viewport, colorScheme }] of Object.entries(LOOKS)) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await snap(page, `console-${name}-${look}`)
    }
    await page.setViewportSize({ width: 320, height: 640 })
    await page.emulateMedia({ colorScheme: 'light' })
    await snap(page, `console-${name}-phone-320`)
  }

  test('links only to pages that exist, and to their parts', async () => {
    const { browser: agent } = await console.signUp('admin')
    expect(links.size).toBeGreaterThan(40)
    for (const [href, from] of links) {
      const [path = '', fragment] = href.split('#')
      const { status, text } = await agent.get(path)
      expect([from, href, status < 400]).toEqual([from, href, true])
      if (fragment) expect([href, text.includes(` id="${fragment}"`)]).toEqual([href, true])
    }
  })

  test('keeps the button that saves within reach, and shows state and reason of a message on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(url + OWN)
    await page.evaluate('for (const one of document.querySelectorAll("details.group")) one.open = true')
    const isInView = (selector: string) =>
      page.evaluate<boolean>(`(({ left, right, top, bottom }) => left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight)(
        document.querySelector('${selector}').getBoundingClientRect())`)
    expect(await isInView('.form-save button')).toBe(true)
    await page.goto(`${url}/console/applications/default/messages?state=refused`)
    await page.evaluate('document.querySelector("tbody tr").scrollIntoView()')
    for (const part of ['.badge-bad', '[data-label=Why] span'])
      expect([part, await isInView(`tbody tr ${part}`)]).toEqual([part, true])
    expect(await page.locator('tbody tr [data-label=Why] span').innerText()).toBe('The webhook answered 422.')
  })

  test('shows a finding in a line of its own on a phone, and a warning no paler than what is fine', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(`${url}/console/health`)
      const [good = [], warn = []] = await page.evaluate<number[][]>(`['good', 'warn'].map((tone) => {
        const badge = document.querySelector('.findings .badge-' + tone)
        const luminance = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
          .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
          .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0.05)
        const contrast = (one, other) => Math.max(luminance(one) / luminance(other), luminance(other) / luminance(one))
        const { color, backgroundColor } = getComputedStyle(badge)
        return [contrast(color, backgroundColor), contrast(backgroundColor, getComputedStyle(badge.closest('.mfa-card')).backgroundColor)]
      })`)
      expect(warn.map((contrast, index) => contrast >= (good[index] ?? 0))).toEqual([true, true])
    }
    const broken = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll('.findings tbody tr')].filter((row) => {
      const [badge, subject, sentence] = [...row.cells].map((cell) => cell.getBoundingClientRect())
      return Math.max(badge.top, subject.top) >= Math.min(badge.bottom, subject.bottom) || sentence.width < row.clientWidth
    }).map((row) => row.innerText)`)
    expect(broken).toEqual([])
    expect(await page.locator('.findings tbody tr').count()).toBeGreaterThan(4)
  })

  test('opens the group of the setting that a finding names', async () => {
    await page.goto(`${url}/console`)
    await page.locator('a', { hasText: 'countries' }).first().click()
    await page.waitForURL(/setting=countries#countries/)
    expect(await page.getByLabel('Countries', { exact: true }).isVisible()).toBe(true)
  })
})
