import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { LimitsStoreError } from '../../src/errors.js'
import type { CounterStore } from '../../src/index.js'
import { ownStore } from '../kit/counters.js'
import { everyCase } from '../kit/every-case.js'
import { host, signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { attemptOn, limitsIn, poolOf } from './kit.js'

describe('an object of the host in limits.store', () => {
  const failing: readonly [string, Partial<CounterStore>][] = [
    ['rejects', { read: async () => Promise.reject(new Error('gone')) }],
    [
      'throws',
      {
        read: () => {
          throw new Error('gone')
        },
      },
    ],
    ['returns a number', { read: async () => 7 as never }],
    ['returns text of its own', { read: async () => 'counters' }],
    ['returns counters that are none', { read: async () => '{"lock":["1",null]}' }],
    ['does not say whether it replaced', { replace: async () => undefined as never }],
    ['never replaces', { replace: async () => false }],
  ]

  it('causes an ERR_MFA_LIMITS_STORE error when it fails (R77)', () =>
    everyCase(failing, async ([_, broken]) => {
      const { attempts } = limitsIn({ ...ownStore(), ...broken })
      await expect(attempts.consume(attemptOn('c'))).rejects.toMatchObject({
        code: 'ERR_MFA_LIMITS_STORE',
        message: expect.stringContaining('the object in limits.store'),
      })
    }))

  it('receives keys of printable ASCII of at most 200 characters, and texts of less than 4,000', async () => {
    const keys: string[] = []
    const lengths: number[] = []
    const store = ownStore()
    const noting: CounterStore = {
      read: (key) => store.read(keys[keys.push(key) - 1] ?? ''),
      replace(key, before, after, lifeMs) {
        lengths.push(after.length)
        return store.replace(key, before, after, lifeMs)
      },
    }
    const { app } = host({ options: { limits: { store: noting } } })
    const agent = await signIn(app, 'bob')
    await challenge(agent, 'sms').expect(200)
    for (let wrong = 0; wrong < 5; wrong++) await verify(agent, '000000').expect(401)
    await limitsIn(noting).attempts.findLimits('ü'.repeat(500), ['x'.repeat(500)])
    expect(keys.length).toBeGreaterThan(1)
    for (const key of keys) expect(key).toMatch(/^[!-~]{1,200}$/)
    expect(Math.max(...lengths)).toBeLessThan(4_000)
  })
})

describe.skipIf(postgresMissing)('the table of the counters in PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  const pools: pg.Pool[] = []
  const open = (url = server.url) => {
    const pool = poolOf(url)
    pools.push(pool)
    return pool
  }
  const attempts = (pool: pg.Pool, tableName: string) => limitsIn({ postgres: { pool, tableName } }).attempts

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await server.stop()
  })

  it('is created once when many processes start at once', async () => {
    const all = Array.from({ length: 12 }, () => attempts(open(), 'created_at_once'))
    const permits = await Promise.all(all.map((one) => one.consume(attemptOn('c'))))
    expect(permits.filter(({ ok }) => ok)).toHaveLength(5)
  })

  it('may exist already, and then needs no privilege to create tables', async () => {
    const owner = open()
    await owner.query(
      'CREATE TABLE mfa_counters (key varchar(255) PRIMARY KEY, counters jsonb NOT NULL, permitted boolean NOT NULL, expires_at bigint NOT NULL)',
    )
    await owner.query('CREATE ROLE shop LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON mfa_counters TO shop')
    const limited = open(server.url.replace('postgres@', 'shop@'))
    await expect(limited.query('CREATE TABLE other (key text)')).rejects.toThrow(/permission denied/)
    expect((await attempts(limited, 'mfa_counters').consume(attemptOn('c'))).ok).toBe(true)
  })

  it('that cannot be created makes every step fail with a LimitsStoreError, until it can', async () => {
    const owner = open()
    const limited = open(server.url.replace('postgres@', 'late@'))
    await owner.query('CREATE ROLE late LOGIN')
    const late = attempts(limited, 'created_late')
    await expect(late.consume(attemptOn('c'))).rejects.toThrow(LimitsStoreError)
    await expect(late.findLimits('u', [])).rejects.toMatchObject({
      message: expect.stringContaining('PostgreSQL'),
      cause: {
        message: expect.stringMatching(
          /has no privilege to create the table created_late\. .*CREATE TABLE .*GRANT SELECT/,
        ),
      },
    })
    await owner.query('GRANT CREATE ON SCHEMA public TO late')
    expect((await late.consume(attemptOn('c'))).ok).toBe(true)
  })
})
