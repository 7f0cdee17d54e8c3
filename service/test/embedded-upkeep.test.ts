import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../src/store/open.js'
import type { Store } from '../src/store/store.js'

let store: Store
beforeAll(async () => {
  store = await openStore({ dataDir: 'memory://', keyId: 'k' })
})
afterAll(() => store.close())

const rowsOf = (count: number) =>
  store.query(
    `INSERT INTO challenge (application, id, account, contact, type, method, purpose, digits, max_attempts, resend_at,
       created_at, expires_at, code_mac)
     SELECT 'default', 'c' || n, 'a' || n, '+' || n, 'PHONE', 'sms', 'sign-in', 6, 5, 0, 0, 0, 'x'
     FROM generate_series(1, $1::integer) n`,
    [count],
  )
const bytes = async () =>
  (await store.query<{ n: number }>("SELECT pg_total_relation_size('challenge')::bigint AS n"))[0]?.n ?? 0
const checkpoint = async () =>
  (await store.query<{ at: string }>('SELECT checkpoint_lsn::text AS at FROM pg_control_checkpoint()'))[0]?.at

test('the embedded database reclaims the space of deleted rows and truncates its journal every hour', async () => {
  await rowsOf(2_000)
  const full = await bytes()
  const before = await checkpoint()
  for (let hour = 0; hour < 4; hour++) {
    await store.query('DELETE FROM challenge')
    await store.upkeep()
    await rowsOf(2_000)
  }
  expect(await bytes()).toBeLessThan(full * 1.5)
  expect(await checkpoint()).not.toBe(before)
})
