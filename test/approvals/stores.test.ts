import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import type { Limits } from '../../src/stores/limits/limits.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { limitsIn, poolOf } from '../limits/kit.js'

let server: Awaited<ReturnType<typeof startRedis>>
let client: Awaited<ReturnType<typeof server.connect>>
let postgres: Awaited<ReturnType<typeof startPostgres>>
let pool: pg.Pool
let nth = 0

beforeAll(async () => {
  if (!postgresMissing) {
    postgres = await startPostgres()
    pool = poolOf(postgres.url)
  }
  if (redisMissing) return
  server = await startRedis()
  client = await server.connect()
})
afterAll(async () => {
  await server?.stop()
  await pool?.end()
  await postgres?.stop()
})

const kinds: readonly (readonly [string, () => Limits])[] = [
  ['memory', () => limitsIn('memory')],
  ...(redisMissing ? [] : ([['Redis', () => limitsIn({ redis: client, prefix: `a${nth++}` })]] as const)),
  ...(postgresMissing
    ? []
    : ([['PostgreSQL', () => limitsIn({ postgres: { pool }, prefix: `a${nth++}` })]] as const)),
  ['an object of the host', () => limitsIn(ownStore())],
]

describe.each(kinds)('approvals in %s (R122, R126)', (_title, open) => {
  it('are used by one of 200 at once', async () => {
    const { approvalRequests } = open()
    await approvalRequests.open('u', 'one')
    expect(await approvalRequests.grant('u', 'one')).toBe(true)
    const used = await Promise.all(Array.from({ length: 200 }, () => approvalRequests.consume('u', 'one')))
    expect(used.filter(Boolean)).toHaveLength(1)
    expect(await approvalRequests.grant('u', 'one')).toBe(false)
  })

  it('are given or refused, whichever comes first, and never both', async () => {
    const { approvalRequests } = open()
    await approvalRequests.open('u', 'one')
    expect(await approvalRequests.consume('u', 'one')).toBe(true)
    expect(await approvalRequests.grant('u', 'one')).toBe(false)
    expect(await approvalRequests.grant('u', 'never asked for')).toBe(false)
    expect(await approvalRequests.consume('another', 'one')).toBe(false)
  })

  it('are three at once for a user, also when 50 are asked for together', async () => {
    const { approvalRequests } = open()
    const waits = await Promise.all(
      Array.from({ length: 50 }, (_, at) => approvalRequests.open('u', `r${at}`)),
    )
    expect(waits.filter((seconds) => seconds === 0)).toHaveLength(3)
    expect(waits.every((seconds) => seconds >= 0 && seconds <= 300)).toBe(true)
    expect(await approvalRequests.open('another', 'r0')).toBe(0)
  })

  it('take one place for each request, however often it is opened at once', async () => {
    const { approvalRequests } = open()
    const open50 = (id: string) => Array.from({ length: 50 }, () => approvalRequests.open('u', id))
    expect(new Set(await Promise.all([...open50('one'), ...open50('two')]))).toEqual(new Set([0]))
    expect(await approvalRequests.open('u', 'three')).toBe(0)
    expect(await approvalRequests.open('u', 'four')).toBeGreaterThan(0)
    expect(await approvalRequests.consume('u', 'one')).toBe(true)
    expect(await approvalRequests.consume('u', 'one')).toBe(false)
    expect(await approvalRequests.open('u', 'four')).toBe(0)
  })

  it('end all at once, and with a change of the factors', async () => {
    const { approvalRequests, factorChanges } = open()
    for (const end of [() => approvalRequests.closeAll('u'), () => factorChanges.add('u')]) {
      await approvalRequests.open('u', 'one')
      await approvalRequests.grant('u', 'one')
      await end()
      expect(await approvalRequests.consume('u', 'one')).toBe(false)
    }
  })
})

describe('approvals in memory (R122)', () => {
  it('end five minutes after they were given, or asked for', async () => {
    const clock = stopClock()
    const { approvalRequests } = limitsIn('memory')
    await approvalRequests.open('u', 'one')
    clock.move(5 * MINUTE - 1)
    expect(await approvalRequests.grant('u', 'one')).toBe(true)
    clock.move(5 * MINUTE - 1)
    expect(await approvalRequests.consume('u', 'one')).toBe(true)
    await approvalRequests.open('u', 'two')
    clock.move(5 * MINUTE)
    expect(await approvalRequests.grant('u', 'two')).toBe(false)
  })
})
