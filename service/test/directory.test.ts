import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApplicationDirectory, applicationDirectory } from '../src/accounts/applications/directory.js'
import { applicationDefaults } from '../src/accounts/applications/settings.js'
import { operator } from '../src/operator/operator.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import { type Bench, openBench, SECRET } from './kit.js'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

/** The directory of one process over the shared store, and how often it looked keys up and read settings. */
function process(): { directory: ApplicationDirectory; lookups(): number; reads(): number } {
  let lookups = 0
  let reads = 0
  const store: typeof bench.store = {
    ...bench.store,
    query(text, params) {
      if (/SELECT application, id, mode/.test(text)) lookups++
      if (/SELECT settings/.test(text)) reads++
      return bench.store.query(text, params)
    },
  }
  const parts = {
    defaults: applicationDefaults('default'),
    apiKey: undefined,
    apiKeyScopes: [],
    acceptTestKeys: true,
    log: () => {},
  }
  return { directory: applicationDirectory({ store, ...parts }), lookups: () => lookups, reads: () => reads }
}

const soon = { timeout: 10_000, interval: 50 }

test('a revoked key and a changed setting take effect immediately in the same process, and soon in others (R85)', async () => {
  const [here, elsewhere] = [process(), process()]
  const ops = operator(bench.store, 'ops', { onApplicationChanged: here.directory.forget })
  await ops.createApplication('shared')
  const { id, key } = await ops.createKey('shared', { mode: 'live' })
  for (const { directory } of [here, elsewhere])
    expect((await directory.byKey(key))?.application.limits.attemptsPerChallenge).toBe(5)

  await ops.changeSettings('shared', { set: { attemptsPerChallenge: 3 } })
  expect((await here.directory.byKey(key))?.application.limits.attemptsPerChallenge).toBe(3)
  await expect
    .poll(async () => (await elsewhere.directory.byKey(key))?.application.limits.attemptsPerChallenge, soon)
    .toBe(3)

  await ops.changeSettings('shared', { set: { smsFrom: 'Bank' } })
  const delivery = { senders: { smsFrom: 'Bank' }, webhook: undefined, hasComplaints: false }
  expect(await here.directory.deliveryOf('shared')).toEqual(delivery)
  await expect.poll(() => elsewhere.directory.deliveryOf('shared'), soon).toEqual(delivery)

  await ops.revokeKey('shared', id)
  expect(await here.directory.byKey(key)).toBeUndefined()
  await expect.poll(() => elsewhere.directory.byKey(key), soon).toBeUndefined()
})

test('an application is built anew only after a change of its settings, its webhook or its complaints', async () => {
  const { directory, reads } = process()
  const ops = operator(bench.store, 'ops', { keys: () => deriveKeys(SECRET) })
  await ops.createApplication('steady')
  const first = await directory.byName('steady')
  const readsAfterLook = async () => {
    await directory.byName('steady')
    return reads()
  }
  await expect.poll(readsAfterLook, soon).toBeGreaterThan(1)
  expect(await directory.byName('steady')).toBe(first)

  await ops.setWebhook('steady', { url: 'https://hooks.example', channels: ['sms'] })
  await expect.poll(async () => (await directory.byName('steady')).webhookChannels, soon).toEqual(['sms'])
  await bench.store.query(
    'INSERT INTO mail_complaint (application, email, complained_at) VALUES ($1, $2, $3)',
    ['steady', 'bob@example.com', Date.now()],
  )
  await expect.poll(async () => (await directory.deliveryOf('steady')).hasComplaints, soon).toBe(true)
  await ops.changeSettings('steady', { set: { lockDuration: '1h' } })
  await expect
    .poll(async () => (await directory.byName('steady')).limits.lockDurationMs, soon)
    .toBe(3_600_000)
  await ops.changeSettings('steady', { unset: ['lockDuration'] })
  await expect.poll(async () => (await directory.byName('steady')).limits, soon).toEqual(first.limits)
})

test('the store contains only the SHA-256 of an API key, and the end of its checksum (R85)', async () => {
  const ops = operator(bench.store, 'ops')
  await ops.createApplication('hashed')
  const { id, key } = await ops.createKey('hashed', { mode: 'live', label: 'web servers' })
  const tables = await bench.store.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  )
  const rows = await Promise.all(
    tables.map(({ name }) =>
      bench.store.query<{ text: string }>(`SELECT t::text AS text FROM "${name}" AS t`),
    ),
  )
  const stored = rows.flat().map(({ text }) => text)
  const ours = stored.filter((text) => text.includes(id))
  expect(ours.join()).toContain(createHash('sha256').update(key).digest('base64url'))
  for (let at = 0; at + 8 <= key.length; at++) {
    const part = key.slice(at, at + 8)
    if (!part.includes('_')) expect(stored.filter((text) => text.includes(part))).toEqual([])
  }
})

test('looks up the key of concurrent requests once, and a malformed key never', async () => {
  const { directory, lookups } = process()
  const ops = operator(bench.store, 'ops')
  await ops.createApplication('busy')
  const { key } = await ops.createKey('busy', { mode: 'test' })
  const found = await Promise.all(Array.from({ length: 50 }, () => directory.byKey(key)))
  expect(new Set(found.map((caller) => caller?.application.id))).toEqual(new Set(['busy/test']))
  expect(lookups()).toBe(1)
  for (const junk of ['', 'x', key.slice(1), `${key.slice(0, -1)}!`, 'mfa_live_']) {
    expect(await directory.byKey(junk)).toBeUndefined()
  }
  expect(lookups()).toBe(1)
})
