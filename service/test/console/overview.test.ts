import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { advance, eventually, stopClock } from '../kit.js'
import { openConsole, read, textOf } from './kit.js'

beforeEach(() => stopClock())
afterEach(() => void vi.useRealTimers())

const send = (console: Awaited<ReturnType<typeof openConsole>>, user: number) =>
  console.service.mfa.send({ method: 'sms', contact: { kind: 'phone', phone: `+44740010000${user}` } })

test('the overview says that nothing is wrong, and what is: each with a link to its page', async () => {
  const console = await openConsole({}, { applicationName: 'Vault' })
  onTestFinished(() => console.service.close())
  const { browser } = await console.signUp('viewer')
  const api = console.service.operator('ops')
  await api.changeSettings('default', { set: { countries: ['GB'] } })
  const { key } = await api.createKey('default', { mode: 'live' })
  expect(key).toBeDefined()
  expect(await read(browser, '/console')).toMatch(
    /Needs attention ok Nothing\. no data Nothing to judge these by yet: (deliveries, )?traffic\./,
  )

  await api.pauseTraffic('default', 'GB')
  await api.createApplication('shop', { countries: ['GB'] })
  const page = await browser.get('/console').expect(200)
  expect(textOf(page.text)).toMatch(/warning traffic "default" sends nothing to phones of GB/)
  expect(page.text).toContain('<a href="/console/applications/default/traffic">traffic</a>')
  expect(page.text).toContain('<a href="/console/applications/shop/keys">API keys</a>')
  expect(page.text).toContain('<a href="/console/applications/shop?setting=name#name">names</a>')
  const setting = await browser.get('/console/applications/shop?setting=name#name').expect(200)
  expect(setting.text).toMatch(/<details class="group" open><summary><h2>Name and language</)
  expect(setting.text.match(/<details class="group" open>/g)).toHaveLength(1)
  for (const [, path = ''] of page.text.matchAll(/data-label="Subject"><span><a href="([^"]+)">/g)) {
    await read(browser, path)
  }
})

test('the overview shows a carrier that is paused after failures, and messages that wait for too long', async () => {
  // Nothing listens at this port.
  const console = await openConsole({}, { delivery: { sms: 'http://127.0.0.1:9/deliver', email: 'inbox' } })
  onTestFinished(() => console.service.close())
  const { browser } = await console.signUp('viewer')
  for (let user = 0; user < 5; user++) await send(console, user)
  const paused = () => console.events.some(({ event }) => event === 'carrier.paused')
  await eventually(() => expect(paused()).toBe(true))
  const page = await read(browser, '/console')
  expect(page).toMatch(
    /carriers This process has paused the carrier \S+ after failures, and tries it again from .* UTC on/,
  )
  expect(page).not.toContain('messages are due')
  advance(120)
  expect(await read(browser, '/console')).toMatch(/queue \d messages are due, the oldest since .* UTC/)
})

test('the overview compares the last hour with the same hour of last week', async () => {
  const console = await openConsole()
  onTestFinished(() => console.service.close())
  const viewer = await console.signUp('viewer')
  for (let user = 0; user < 3; user++) await send(console, user)
  // Counts are written once a second. The operator got a notice about the new authenticator app, which is no code to type.
  await expect
    .poll(() => read(viewer.browser, '/console'))
    .toMatch(/Sent 4 Delivered 0 Codes typed 0 Failed 0 All applications\. There are no numbers of last week/)
})
