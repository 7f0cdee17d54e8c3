import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import express from 'express'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WARNINGS } from '../../src/options/warnings.js'
import { PROBLEM_CODES } from '../../src/web/http/problem.js'
import { LOOKS, newUser } from '../journeys/kit/browser.js'
import { axeViolations } from '../kit/axe.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { everyCase } from '../kit/every-case.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { temporaryFolder } from '../kit/temporary-folder.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BASE = '/docs/countersign/'

describe('the site', () => {
  const { path: out, remove } = temporaryFolder()
  let files: readonly string[] = []
  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '-s', 'site', '--', '--base', BASE, '--out', out], { cwd: ROOT })
    const entries = await readdir(out, { recursive: true, withFileTypes: true })
    files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => posix.relative(out, join(entry.parentPath, entry.name)))
  })

  afterAll(remove)

  const page = (path: string) => readFile(join(out, path), 'utf8')

  const pagePaths = () => files.filter((file) => file.endsWith('.html'))

  it('links to no page or heading that it does not have, and loads nothing from elsewhere', async () => {
    const pages = new Map<string, string>()
    for (const path of pagePaths()) pages.set(path, await page(path))
    expect(pages.size).toBeGreaterThan(100)
    const anchorsOf = (html = '') => new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id))
    const anchors = new Map([...pages].map(([path, html]) => [path, anchorsOf(html)]))
    const broken: string[] = []
    let fragments = 0
    for (const [path, html] of pages) {
      for (const [, tag, address = ''] of html.matchAll(/<(\w+)[^>]*?\s(?:href|src)="([^"]*)"/g)) {
        const { origin, pathname, hash } = new URL(address, `http://site.test${BASE}${path}`)
        if (origin !== 'http://site.test') {
          if (tag !== 'a') broken.push(`${path}: ${address}`)
          continue
        }
        const file = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : 'outside of the base'
        const found = file === '' || file.endsWith('/') ? `${file}index.html` : file
        if (!files.includes(decodeURIComponent(found))) broken.push(`${path}: ${address}`)
        if (hash === '') continue
        fragments++
        const anchor = decodeURIComponent(hash.slice(1))
        if (!anchors.get(decodeURIComponent(found))?.has(anchor)) broken.push(`${path}: ${address}`)
      }
    }
    expect(broken).toEqual([])
    expect(fragments).toBeGreaterThan(1_000)
  })

  it('begins with what it is, one line of code, a command, two buttons, a picture and the first example of the README', async () => {
    const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
    const html = await page('index.html')
    const words = (text: string) => text.replaceAll(/&[#\w]+;|[\s&<>"']/g, '')
    const shown = (markup: string) => words(markup.replaceAll(/<[^>]+>/g, ''))
    const [, example = ''] = /^```js\n([\s\S]*?)^```$/m.exec(readme) ?? []
    expect(example).toContain('mfaRouter(')
    expect(shown(html)).toContain(words(example))
    const [hero = ''] = html.split('class="vp-doc container"')
    expect(shown(hero)).toContain('Multi-factorauthentication(MFA)forExpressapps')
    expect(hero).toMatch(/<h1[^>]*>[^/]*Multi-factor authentication/)
    expect(hero).toContain('<code>app.use(mfaRouter(')
    expect(hero).toContain('<code>npm ci &amp;&amp; npm start</code>')
    expect([...hero.matchAll(/<a class="VPButton[^>]*>/g)]).toHaveLength(2)
    for (const scheme of ['light', 'dark']) expect(hero).toContain(`${BASE}docs/images/pages-${scheme}.png`)
    for (const use of [`rel="icon" type="image/svg+xml" href="${BASE}logo.svg"`, `src="${BASE}logo.svg"`]) {
      expect(html).toContain(use)
    }
    expect(await readFile(join(out, 'logo.svg'), 'utf8')).toContain('<title>Countersign</title>')
  })

  it('has a page for each problem code, each error and each warning', async () => {
    const errors = new Set((await readFile(join(ROOT, 'src/errors.ts'), 'utf8')).match(/ERR_MFA_[A-Z_]+/g))
    const wanted = [
      ...PROBLEM_CODES.map((code) => `docs/problems/${code}.html`),
      ...[...errors].map((code) => `docs/thrown/${code}.html`),
      ...Object.keys(WARNINGS).map((code) => `docs/warnings/${code}.html`),
    ]
    for (const path of wanted) {
      expect(files).toContain(path)
      const text = (await page(path)).replaceAll(/<[^>]+>/g, ' ')
      expect(text, path).toContain(posix.basename(path, '.html'))
    }
    expect(await page('docs/problems/locked.html')).toContain('HTTP status 429. Too many wrong codes')
  })

  it('shows a picture of every page, in light and in dark', async () => {
    const pictures = await readdir(join(ROOT, 'docs/images/pages'))
    const html = await page('docs/pictures.html')
    for (const picture of pictures) expect(html).toContain(`src="${BASE}docs/images/pages/${picture}"`)
    // In the order of a sign-in.
    const order = [
      'choose-a-factor',
      'code-by-sms',
      'code-for-an-approval',
      'set-up-an-app',
      'recovery-waits',
    ]
    const places = order.map((name) => html.indexOf(`pages/${name}-light`))
    expect(places).toEqual([...places].sort((one, other) => one - other))
  })

  describe.skipIf(!hasBrowser)('from a plain server of files, below a path', () => {
    let browser: Browser
    let url = ''
    const server = createServer(express().use(BASE, express.static(out)))
    beforeAll(async () => {
      url = `http://localhost:${await listenOnLoopback(server)}${BASE}`
      browser = await openBrowser()
    })
    afterAll(async () => {
      await browser?.close()
      server.closeAllConnections()
      server.close()
    })

    it('finds a page by its words, without asking another server', async () => {
      const { page, context } = await newUser(browser)
      await context.setOffline(false)
      const elsewhere: string[] = []
      const failed: string[] = []
      page.on('request', (request) => {
        if (!request.url().startsWith(url)) elsewhere.push(request.url())
      })
      page.on('response', (response) => {
        if (response.status() >= 400) failed.push(response.url())
      })
      await page.goto(url)
      await page.getByRole('button', { name: 'Search' }).first().click()
      await page.getByRole('searchbox').fill('MFA_WARN_TRUST_PROXY')
      const found = page.getByRole('option').filter({ hasText: 'MFA_WARN_TRUST_PROXY' }).first()
      await found.click()
      await page.getByRole('heading', { name: 'MFA_WARN_TRUST_PROXY' }).first().waitFor()
      expect([elsewhere, failed]).toEqual([[], []])
      await context.close()
    })

    it('finds pages before the tables that are generated from tests and measurements', async () => {
      const { page, context } = await newUser(browser)
      await page.goto(`${url}docs/options.html`)
      await page.getByRole('button', { name: 'Search' }).first().click()
      for (const words of ['session renewal', 'rate limit', 'trusted devices', 'outage', 'Redis']) {
        await page.getByRole('searchbox').fill(words)
        await page
          .locator('.result mark')
          .filter({ hasText: new RegExp(words.slice(0, 4), 'i') })
          .first()
          .waitFor()
        const found = await page
          .locator('a.result')
          .evaluateAll((all) => all.slice(0, 4).map((one) => one.getAttribute('href') ?? ''))
        expect(found.length, words).toBeGreaterThan(2)
        expect(found.filter((address) => /requirements-tests|\/bench\//.test(address))).toEqual([])
      }
      await context.close()
    })

    it('finds what users call a thing on the page about it, at the first place', async () => {
      const { page, context } = await newUser(browser)
      await page.goto(`${url}docs/options.html`)
      await page.getByRole('button', { name: 'Search' }).first().click()
      for (const [words, expected] of [
        ['2fa', 'docs/getting-started.html'],
        ['lost phone', 'docs/recovery.html'],
        ['remember me', 'docs/trusted-devices.html'],
        ['rate limit', 'docs/options.html#limits'],
        ['passkey canceled', 'docs/keys.html#a-passkey-is-canceled-or-refused'],
        ['express 5', 'docs/getting-started.html'],
      ] as const) {
        await page.getByRole('searchbox').fill(words)
        const first = () => page.locator('a.result').first().getAttribute('href')
        await expect.poll(first, { message: words, timeout: 20_000 }).toContain(BASE + expected)
      }
      await context.close()
    })

    it('has no page that scrolls sideways on a phone, and no table that is cut', async () => {
      const measure = `[document.documentElement.scrollWidth - innerWidth,
        ...[...document.querySelectorAll('.table')].map((one) => one.scrollWidth - one.clientWidth)]`
      for (const [look, paths] of [
        [LOOKS['phone-light'], pagePaths()],
        [LOOKS['desktop-light'], pagePaths().filter((path) => /options|operating|service.index/.test(path))],
      ] as const) {
        const { page, context } = await newUser(browser, { ...look, javaScriptEnabled: false })
        expect(paths.length).toBeGreaterThan(2)
        await everyCase(paths, async (path) => {
          await page.goto(url + path)
          const overflows = await page.evaluate<number[]>(measure)
          expect([path, overflows.filter((overflow) => overflow > 0)]).toEqual([path, []])
        })
        await context.close()
      }
    })

    it('has no code that is cut at a width of 1280 pixels', async () => {
      const { page, context } = await newUser(browser, { viewport: { width: 1280, height: 800 } })
      await everyCase(
        ['docs/getting-started.html', 'docs/tokens.html', 'docs/mounting.html'],
        async (path) => {
          await page.goto(url + path)
          const cut = `[...document.querySelectorAll('.vp-doc pre')].filter((pre) => pre.scrollWidth > pre.clientWidth).length`
          expect([path, await page.evaluate(cut)]).toEqual([path, 0])
        },
      )
      await context.close()
    })

    it('passes axe on its first page, the options, the pictures and a problem code, in light and in dark', async () => {
      // The groups of the sidebar, and the button of the search with the name of its key.
      const ofVitePress =
        /^(?:nested-interactive: <div class="item" |label-content-name-mismatch: <button .*DocSearch)/
      for (const look of ['desktop-light', 'desktop-dark'] as const) {
        const { page, context } = await newUser(browser, LOOKS[look])
        await everyCase(['index', 'docs/options', 'docs/pictures', 'docs/problems/locked'], async (path) => {
          await page.goto(`${url}${path}.html`)
          const found = await axeViolations(page, ...(look === 'desktop-dark' ? ['color-contrast'] : []))
          expect(found.filter((one) => !ofVitePress.test(one))).toEqual([])
        })
        await context.close()
      }
    })

    it('shows the rows of the table of options as cards on a phone, each cell with the name of its column', async () => {
      const { page, context } = await newUser(browser)
      await page.goto(`${url}docs/options.html`)
      const cells = page.getByRole('row').filter({ hasText: 'appContact' }).first().getByRole('cell')
      const boxes = await cells.evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().top))
      expect(boxes).toHaveLength(3)
      expect([...boxes].sort((a, b) => a - b)).toEqual([...new Set(boxes)])
      const label = await cells.nth(1).evaluate((cell) => getComputedStyle(cell, '::before').content)
      expect(label).toBe('"default"')
      await context.close()
    })
  })
})
