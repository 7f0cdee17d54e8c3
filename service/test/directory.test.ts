import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Directory, directory } from '../src/applications/directory.js'
import { newcomer } from '../src/applications/settings.js'
import { operator } from '../src/operator/operator.js'
import { type Bench, openBench } from './kit.js'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

/** What one process knows of the applications in the shared store, and how often it asked. */
function process(): { knows: Directory; asked(): number } {
  let asked = 0
  const store: typeof bench.store = {
    ...bench.store,
    query(text, params) {
      if (/SELECT application, id, mode/.test(text)) asked++
      return bench.store.query(text, params)
    },
  }
  const parts = { base: newcomer('default'), apiKey: undefined, testKeys: true, log: () => {} }
  return { knows: directory({ store, ...parts }), asked: () => asked }
}

const soon = { timeout: 10_000, interval: 50 }

test('a revoked key and a changed setting reach the process that made the change at once, others soon (R85)', async () => {
  const [here, elsewhere] = [process(), process()]
  const ops = operator(bench.store, 'ops', here.knows.forget)
  await ops.createApplication('shared')
  const { id, key } = await ops.createKey('shared', { mode: 'live' })
  for (const { knows } of [here, elsewhere]) expect((await knows.byKey(key))?.limits.maxTries).toBe(5)

  await ops.changeSettings('shared', { set: { maxTries: 3 } })
  expect((await here.knows.byKey(key))?.limits.maxTries).toBe(3)
  await expect.poll(async () => (await elsewhere.knows.byKey(key))?.limits.maxTries, soon).toBe(3)

  await ops.revokeKey('shared', id)
  expect(await here.knows.byKey(key)).toBeUndefined()
  await expect.poll(() => elsewhere.knows.byKey(key), soon).toBeUndefined()
})

test('the store holds an API key as its SHA-256, and nothing else of it but the end of its checksum (R85)', async () => {
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

test('a key that many requests bring at once is looked up once; one that cannot be a key never', async () => {
  const { knows, asked } = process()
  const ops = operator(bench.store, 'ops')
  await ops.createApplication('busy')
  const { key } = await ops.createKey('busy', { mode: 'test' })
  const found = await Promise.all(Array.from({ length: 50 }, () => knows.byKey(key)))
  expect(new Set(found.map((application) => application?.id))).toEqual(new Set(['busy/test']))
  expect(asked()).toBe(1)
  for (const junk of ['', 'x', key.slice(1), `${key.slice(0, -1)}!`, 'mfa_live_']) {
    expect(await knows.byKey(junk)).toBeUndefined()
  }
  expect(asked()).toBe(1)
})
