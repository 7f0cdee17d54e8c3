import type { Browser, Page } from 'playwright-core'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { LOOKS, snap } from '../../../test/journeys/kit/browser.js'
import { axeViolations } from '../../../test/kit/axe.js'
import { hasBrowser, openBrowser } from '../../../test/kit/chromium.js'
import { everyCase } from '../../../test/kit/every-case.js'
import { stopClock } from '../kit.js'
import { consoleInEveryState, faultsOf, OWN, type State } from './every-state.js'

describe.skipIf(!hasBrowser)('every state of the console', () => {
  let every: Awaited<ReturnType<typeof consoleInEveryState>>
  let browser: Browser
  let url = ''
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())
  const openConsole = async () => {
    stopClock()
    every = await consoleInEveryState()
    url = every.console.url
  }
  const closeConsole = async () => {
    await every?.close()
    vi.useRealTimers()
  }

  /** Checks states one after the other in a browser, and what they link to. */
  async function check(states: readonly State[], shownIn = browser): Promise<void> {
    const open = every.opener(shownIn)
    const links = new Map<string, string>()
    const faults: unknown[] = []
    await everyCase(states, async (state) => {
      const { name, status = 200 } = state
      const page = await open(state)
      const found = [...(await axeViolations(page)), ...(await faultsOf(page, state))]
      await page.emulateMedia({ colorScheme: 'dark' })
      found.push(...(await axeViolations(page, 'color-contrast')))
      await page.emulateMedia({ colorScheme: 'light' })
      if (found.length > 0) faults.push([name, found])
      await picture(page, name)
      if (status !== 200) return
      const hrefs = await page.evaluate<string[]>(
        '[...document.querySelectorAll("main a[href], nav a[href]")].map((one) => one.href)',
      )
      for (const href of hrefs) if (href.startsWith(url)) links.set(href.slice(url.length), name)
    })
    expect(faults).toEqual([])
    await checkLinks(links)
  }

  /** Every state in all looks, to be looked at. */
  async function picture(page: Page, name: string): Promise<void> {
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

  /** Checks that pages exist, and their parts; `links` are their paths, with the name of a state that leads there. */
  async function checkLinks(links: ReadonlyMap<string, string>): Promise<void> {
    const { browser: agent } = await every.console.signUp('admin')
    expect(links.size).toBeGreaterThan(35)
    await everyCase(links, async ([href]) => {
      const [path = '', fragment] = href.split('#')
      const { status, text } = await agent.get(path)
      expect(status).toBeLessThan(400)
      if (fragment) expect(text).toContain(` id="${fragment}"`)
    })
  }

  const TITLE =
    'passes axe in both color schemes, fits every screen, leads on to pages that exist, and offers no choice of one'

  describe('one after the other', () => {
    // A form changes what others show, so that a second try needs a new console.
    beforeEach(openConsole)
    afterEach(closeConsole)

    test(TITLE, async () => {
      const still = await openBrowser({ isOnlyLookedAt: true })
      onTestFinished(() => still.close())
      await check(
        every.states.filter(({ press }) => press === undefined),
        still,
      )
    })

    test(`${TITLE}, also after a form`, () => check(every.states.filter(({ press }) => press !== undefined)))
  })

  describe('that is looked at alone', () => {
    beforeAll(openConsole)
    afterAll(closeConsole)

    test('keeps the button that saves within reach, and shows state and reason of a message on a phone', async () => {
      const page = await every.opener(browser)({ name: 'settings', path: OWN })
      await page.setViewportSize({ width: 390, height: 844 })
      const isInView = (selector: string) =>
        page.evaluate<boolean>(`(({ left, right, top, bottom }) => left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight)(
          document.querySelector('${selector}').getBoundingClientRect())`)
      expect(await isInView('.form-save button')).toBe(true)
      await page.goto(`${url}/console/applications/default/messages?state=refused`)
      await page.evaluate('document.querySelector("tbody tr").scrollIntoView()')
      for (const part of ['.badge-bad', '[data-label=Why] span'])
        expect([part, await isInView(`tbody tr ${part}`)]).toEqual([part, true])
      expect(await page.locator('tbody tr [data-label=Why] span').innerText()).toBe(
        'The webhook answered 422.',
      )
    })

    test('shows a finding in a line of its own on a phone, and a warning no paler than what is fine', async () => {
      const page = await every.opener(browser)({ name: 'health', path: '/console/health' })
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
      const page = await every.opener(browser)({ name: 'overview', path: '/console' })
      await page.locator('a', { hasText: 'countries' }).first().click()
      await page.waitForURL(/setting=countries#countries/)
      expect(await page.getByLabel('Countries', { exact: true }).isVisible()).toBe(true)
    })
  })
})
