import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getSlot } from '../src/store/outbox-slots.js'
import { eventually, freshEmail, freshTenant, openBench, wrong } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

describe('a new PostgreSQL that has analyzed no table yet', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let client: pg.Client
  beforeAll(async () => {
    postgres = await startPostgres()
    client = new pg.Client({ connectionString: postgres.url, options: '-c search_path=mfa' })
    await client.connect()
    await client.query('ALTER SYSTEM SET autovacuum = off')
    await client.query('SELECT pg_reload_conf()')
  })
  afterAll(async () => {
    await client.end()
    await postgres.stop()
  })

  /** The entries of indexes and the rows that statements have read since the server started. */
  async function reads(): Promise<number> {
    const { rows } = await client.query<{ n: number }>(
      `SELECT (SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables)::integer
         + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes)::integer AS n`,
    )
    return rows[0]?.n ?? Number.NaN
  }

  test('finds the challenge of an account and its message among 20,000 others without reading them', async () => {
    const bench = await openBench({ databaseUrl: postgres.url })
    const { application, mfa, lastCode } = freshTenant(bench)
    const signIn = async () => {
      const contact = freshEmail()
      expect(await mfa.send({ contact, method: 'email', purpose: 'sign-in' })).toMatchObject({
        outcome: 'sent',
      })
      const code = lastCode()
      const guess = { kind: 'code', contact, method: 'email', purpose: 'sign-in' } as const
      expect(await mfa.verify({ ...guess, code: wrong(code) })).toMatchObject({ outcome: 'invalid' })
      expect(await mfa.verify({ ...guess, code })).toMatchObject({ outcome: 'valid' })
    }
    // Statements are planned while the tables are empty.
    for (let times = 0; times < 10; times++) await signIn()
    const all = 'FROM generate_series(1, 20000) AS n'
    await client.query(
      `INSERT INTO account (application, account) SELECT '${application.id}', 'contact:x' || n ${all}`,
    )
    await client.query(
      `INSERT INTO challenge (application, id, account, contact, type, method, purpose, digits, max_attempts, resend_at, created_at,
         expires_at, code_mac)
       SELECT '${application.id}', md5(n::text), 'contact:x' || n, 'x' || n, 'EMAIL', 'email', 'sign-in', 6, 5, 0, 0, 1e14, 'x' ${all}`,
    )
    await client.query(
      `INSERT INTO outbox (application, account, id, slot, channel, masked, state, carrier, challenge, expires_at, created_at, updated_at,
         settled_at, attempts)
       SELECT '${application.id}', 'contact:x' || n, n, ${getSlot(Date.now())}, 'email', '', 'sent', 'smtp', md5(n::text), now,
         now, now, now, 1 ${all}, LATERAL (SELECT ${Date.now()}::bigint AS now) AS time`,
    )
    const before = await reads()
    for (let times = 0; times < 10; times++) await signIn()
    // The counts of connections become visible when they end.
    await bench.close()
    await eventually(async () => expect(await reads()).toBeGreaterThan(before + 20))
    expect(await reads()).toBeLessThan(before + 2_000)
  })
})
