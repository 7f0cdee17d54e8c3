import { mkdir, writeFile } from 'node:fs/promises'
import { softwareAuthenticator } from 'countersign/testing'
import type { Page } from 'playwright-core'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { LOOKS, newUser, snap } from '../../../test/journeys/kit/browser.js'
import { hasBrowser, openBrowser } from '../../../test/kit/chromium.js'
import { PATIENCE_MS } from '../../../test/kit/patience.js'
import { advance, appCode, stopClock } from '../kit.js'
import { PASSWORD, type ServedConsole, serveConsole, type TestConsole } from './kit.js'

const FOLDER = new URL('../../docs/screens/', import.meta.url)
const MAX_BYTES = 60_000
const MAX_HEIGHT = 760

/** The noon that the screenshots show; the clock of the tests is stopped at another one. */
const SHOWN_NOON = Date.parse('2026-03-02T12:00:00Z')

/** The user whose page is shown. */
const USER = 'wendy@example.com'

/* The screenshots in the documentation. `npm run screens` writes them again. */
describe.skipIf(!hasBrowser)('the screenshots of the console', () => {
  let console: ServedConsole
  let browser: Awaited<ReturnType<typeof openBrowser>>
  let page: Page
  let noon = 0
  let url = ''
  beforeAll(async () => {
    stopClock()
    noon = Date.now()
    console = await serveConsole()
    url = console.url
    await fill(console)
    browser = await openBrowser()
    page = (
      await newUser(browser, { ...LOOKS['desktop-light'], viewport: { width: 1120, height: MAX_HEIGHT } })
    ).page
    await signIn()
  })
  afterAll(async () => {
    await browser?.close()
    await console?.close()
    vi.useRealTimers()
  })

  async function signIn(): Promise<void> {
    const { email, secret } = await console.signUp('admin', 'ann@example.com')
    await page.goto(`${url}/console/sign-in`)
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('[name=code]').fill(appCode(secret))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  }

  /** Shows all times as if the clock stood at the noon of the screenshots. */
  async function shiftTimes(): Promise<void> {
    await page.evaluate((shiftMs) => {
      for (const time of document.querySelectorAll('time')) {
        const iso = new Date(Date.parse(time.dateTime) + shiftMs).toISOString()
        time.textContent = `${iso.slice(0, 16).replace('T', ' ')} UTC`
      }
    }, SHOWN_NOON - noon)
  }

  async function take(name: string): Promise<void> {
    await shiftTimes()
    await snap(page, `docs-${name}`)
    const height = Math.min(
      MAX_HEIGHT,
      (await page.evaluate('document.documentElement.scrollHeight')) as number,
    )
    const cdp = await page.context().newCDPSession(page)
    const { data } = await cdp.send('Page.captureScreenshot', {
      format: 'webp',
      quality: 70,
      captureBeyondViewport: true,
      clip: { x: 0, y: 0, width: 1_120, height, scale: 1 },
    })
    await cdp.detach()
    const image = Buffer.from(data, 'base64')
    expect([name, image.length < MAX_BYTES]).toEqual([name, true])
    if (!process.env.WRITE_SCREENS) return
    await mkdir(FOLDER, { recursive: true })
    await writeFile(new URL(`${name}.webp`, FOLDER), image)
  }

  test.each([
    ['overview', '/console'],
    ['settings', '/console/applications/vault'],
    ['operators', '/console/operators'],
    ['audit', '/console/audit'],
  ])('show the page %s', async (name, path) => {
    await page.goto(url + path)
    await page.evaluate(
      'for (const group of [...document.querySelectorAll("details.group")].slice(0, 1)) group.open = true',
    )
    await take(name)
  })

  test('show the page of a user', async () => {
    await page.goto(`${url}/console`)
    await page.getByLabel('Account, contact, message id or reference').fill(USER)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByRole('heading', { name: 'What happened lately' }).waitFor()
    await take('user')
  })
})

/** Creates an application with users, messages, keys and operators, always the same. */
async function fill({ service, signUp }: TestConsole): Promise<void> {
  const api = service.operator('ann@example.com')
  await api.createApplication('vault', {
    name: 'Vault',
    countries: ['GB', 'DE'],
    origin: 'vault.example',
    relyingPartyId: 'vault.example',
  })
  const { key } = await api.createKey('vault', { mode: 'live', label: 'web servers' })
  const call = (path: string, fields: Record<string, string>) =>
    request(service.api).post(path).set('Authorization', `Bearer ${key}`).type('form').send(fields)
  for (const User of ['walter@example.com', '+447400100001', '+4915112345678']) {
    advance(60)
    await call('/v1/mfa', { User, Type: User.includes('@') ? 'EMAIL' : 'SMS' }).expect(200)
  }
  advance(60)
  const { body } = await call('/v1/mfa', { User: USER, Type: 'EMAIL' }).expect(200)
  for (let attempt = 0; attempt < 3; attempt++) {
    advance(10)
    await call('/v1/mfa/verify', { User: USER, Type: 'EMAIL', Code: 'XXXXXX', Challenge: body.challenge })
  }
  advance(60)
  const ceremony = { User: USER, Type: 'SECURITY_KEY', Transaction: 'enroll' }
  const prepared = await call('/v1/mfa/keys/registration/options', ceremony).expect(200)
  const response = softwareAuthenticator().create(prepared.body.options, { origin: 'https://vault.example' })
  const registered = { ...ceremony, Name: 'Blue key', Response: JSON.stringify(response) }
  await call('/v1/mfa/keys/registration/verify', registered).expect(200)
  // The notice about the key is a message, too.
  const sent = { application: 'vault', mode: 'live', state: 'sent', limit: 9 } as const
  await vi.waitFor(async () => expect((await api.searchMessages(sent)).messages).toHaveLength(5), {
    timeout: PATIENCE_MS,
    interval: 20,
  })
  await api.inviteOperator({ email: 'kim@example.com', role: 'support' })
  await signUp('viewer', 'lee@example.com')
}
