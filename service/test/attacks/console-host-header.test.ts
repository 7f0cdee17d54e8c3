import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openConsole, post, textOf } from '../console/kit.js'
import { stopClock } from '../kit.js'

beforeEach(() => stopClock())
afterEach(() => void vi.useRealTimers())

const FORGED = {
  Host: 'evil.example',
  'X-Forwarded-Host': 'evil.example',
  'X-Forwarded-Proto': 'https',
  Forwarded: 'host=evil.example',
}

async function open(url?: string) {
  const console = await openConsole({ trustedProxies: ['loopback'], ...(url && { url }) })
  onTestFinished(() => console.service.close())
  const admin = await console.signUp('admin')
  const invite = (email: string) =>
    post(admin.browser, '/console/operators/invite', { email, role: 'viewer' }).set(FORGED)
  return { console, admin, invite }
}

test('a forged Host header does not change the link of an invitation (R140)', async () => {
  const { invite, admin, console } = await open('https://console.example/')
  const { text } = await invite('new@example.com').expect(200)
  expect(text).toMatch(/class="once">https:\/\/console\.example\/console\/invitation\/[\w-]{43}</)
  const person = await console.signUp('support')
  const reset = await post(admin.browser, '/console/operators/reset', { email: person.email }).set(FORGED)
  expect(reset.text).toContain('>https://console.example/console/invitation/')
  for (const page of [text, reset.text]) expect(page).not.toContain('evil.example')
})

test('without an address in the configuration, no link is made, and the page names the setting (R140)', async () => {
  const { invite, admin, console } = await open()
  const person = await console.signUp('support')
  const reset = await post(admin.browser, '/console/operators/reset', { email: person.email }).set(FORGED)
  const refused = await invite('new@example.com')
  for (const { status, text } of [reset, refused]) {
    expect(status).toBe(422)
    expect(textOf(text)).toContain('SERVICE_CONSOLE_URL')
    expect(text).not.toContain('evil.example')
    expect(text).not.toContain('/console/invitation/')
  }
  const operators = await console.service.operator('test').listOperators()
  expect(operators.map(({ email }) => email).sort()).toEqual([admin.email, person.email].sort())
  await person.browser.get('/console').expect(200)
})

test('a forged Host header appears on no page and in no redirect (R140)', async () => {
  const { console, admin } = await open('https://console.example')
  const paths = [
    '/console/sign-in',
    '/console',
    '/console/operators',
    '/console/applications/default',
    '/console/applications/default/events',
    '/console/applications/default/webhook',
    '/console/mfa',
    '/console/mfa/keys',
    '/console/mfa/enroll-app',
  ]
  for (const browser of [admin.browser, console.open()]) {
    for (const path of paths) {
      const { text, headers } = await browser.get(path).set(FORGED)
      expect([path, text.includes('evil.example')]).toEqual([path, false])
      expect([path, JSON.stringify(headers).includes('evil.example')]).toEqual([path, false])
    }
  }
})
