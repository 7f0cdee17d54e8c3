import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openConsole, post, settingsForm, typeCode } from '../console/kit.js'
import { advance, stopClock } from '../kit.js'

beforeEach(() => stopClock())
afterEach(() => void vi.useRealTimers())

test.each([
  ['relyingPartyOrigins', 'https://evil.vault.example'],
  ['relatedOrigins', 'https://evil.example'],
  ['topOrigins', 'https://evil.example'],
  ['relyingPartyId', 'evil.example'],
  ['attemptsPerChallenge', '10'],
  ['keyCounter', 'flag'],
  ['emailFrom', 'Vault <attacker@evil.example>'],
  ['origin', 'evil.example'],
])('a session whose second factor is older than ten minutes cannot set %s (R106)', async (name, value) => {
  const console = await openConsole()
  onTestFinished(() => console.service.close())
  const admin = await console.signUp('admin')
  const api = console.service.operator('test')
  await api.createApplication('vault', { relyingPartyId: 'vault.example' })
  const fields = async () => ({ ...(await settingsForm(admin.browser, 'vault')), [name]: value })
  const current = async () => {
    const settings = await api.showSettings('vault')
    return settings.find((one) => one.name === name)?.value ?? ''
  }
  const before = await current()
  advance(10 * 60)
  await post(admin.browser, '/console/applications/vault', await fields())
    .expect(303)
    .expect('location', /^\/console\/mfa/)
  expect(await current()).toBe(before)
  advance(30)
  await typeCode(admin).expect(303)
  await post(admin.browser, '/console/applications/vault', await fields()).expect(200)
  expect(await current()).toBe(value)
})
