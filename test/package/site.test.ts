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
import { newUser } from '../journeys/kit/browser.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
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

  it('links to nothing that it does not have, and loads nothing from elsewhere', async () => {
    const pages = files.filter((file) => file.endsWith('.html'))
    expect(pages.length).toBeGreaterThan(100)
    const broken: string[] = []
    for (const path of pages) {
      const html = await page(path)
      for (const [, tag, address = ''] of html.matchAll(/<(\w+)[^>]*?\s(?:href|src)="([^"]*)"/g)) {
        const { origin, pathname } = new URL(address, `http://site.test${BASE}${path}`)
        if (origin !== 'http://site.test') {
          if (tag !== 'a') broken.push(`${path}: ${address}`)
          continue
        }
        const file = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : 'outside of the base'
        const found = file === '' || file.endsWith('/') ? `${file}index.html` : file
        if (!files.includes(decodeURIComponent(found))) broken.push(`${path}: ${address}`)
      }
    }
    expect(broken).toEqual([])
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
      expect([elsewhere, failed.filter((address) => !address.endsWith('favicon.ico'))]).toEqual([[], []])
      await context.close()
    })
  })
})
