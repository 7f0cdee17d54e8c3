import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { group, type StepStore, type Update } from '../../src/stores/limits/step.js'
import { openSteps } from '../../src/stores/limits/step-store.js'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { poolOf } from './kit.js'

/*
 * A step is carried out by TypeScript in the process, by TypeScript around a store of the host, by a script in Redis and by a statement
 * in PostgreSQL. A difference between them would be a way around a limit. `COUNTER_STEPS=1000000` runs as many.
 */

const STEPS = Number(process.env.COUNTER_STEPS ?? 3_000)
const STEPS_OF_A_RUN = 30

let redis: Awaited<ReturnType<typeof startRedis>>
let client: Awaited<ReturnType<typeof redis.connect>>
let postgres: Awaited<ReturnType<typeof startPostgres>>
let pool: pg.Pool

beforeAll(async () => {
  if (!postgresMissing) {
    postgres = await startPostgres()
    pool = poolOf(postgres.url)
  }
  if (redisMissing) return
  redis = await startRedis()
  client = await redis.connect()
})
afterAll(async () => {
  await redis?.stop()
  await pool?.end()
  await postgres?.stop()
})

const SINGLE = ['a', 'b*']
const MEMBERS = ['f c 1', 'f c 2', 'f d 1']
const GROUPS = [group('f'), group('f c')]
const NAMES = [...SINGLE, ...MEMBERS, ...GROUPS]

const anyName = fc.constantFrom(...NAMES)
/** Longer than a run takes, since Redis deletes keys by its own clock. */
const lives = fc.array(
  fc.integer({ min: 5, max: 90 }).map((minutes) => minutes * MINUTE),
  {
    minLength: 1,
    maxLength: 3,
  },
)

/** Without the members that are absent, as JSON leaves them out. */
const some = <Value extends object>(model: { [Key in keyof Value]: fc.Arbitrary<Value[Key]> }) =>
  fc.record(model, { requiredKeys: [] })

const requirements = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  {
    weight: 3,
    arbitrary: fc.array(
      fc.oneof(
        fc.record({ counter: anyName, below: fc.integer({ min: 1, max: 5 }) }),
        fc.record({ counter: anyName, from: fc.integer({ min: 0, max: 2 }) }),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  },
)

const condition = some<{ when: string; atLeast: number }>({
  when: anyName,
  atLeast: fc.integer({ min: 0, max: 4 }),
})

const ofCounter = fc.oneof(
  fc.record(
    {
      counter: fc.constantFrom(...SINGLE, ...MEMBERS),
      add: fc.integer({ min: 0, max: 3 }),
      minus: anyName,
      livesMs: lives,
      nth: anyName,
      restarts: fc.constant(true as const),
    },
    { requiredKeys: ['counter', 'add', 'livesMs'] },
  ),
  fc.record(
    {
      counter: fc.constantFrom(...SINGLE, ...MEMBERS),
      set: fc.integer({ min: 0, max: 5 }),
      minus: anyName,
      livesMs: lives,
      nth: anyName,
    },
    { requiredKeys: ['counter', 'set', 'livesMs'] },
  ),
  fc.record({ counter: fc.constantFrom(...SINGLE, ...MEMBERS), add: fc.constant(-1) }),
  fc.record({ counter: fc.constantFrom(...GROUPS), set: fc.constant(0) }),
)

type Change = NonNullable<Update['changes']>[number]

/** The changes, each counter once: `applyUpdate` says so. */
const changes = fc
  .array(fc.tuple(ofCounter, condition), { maxLength: 4 })
  .map((all) => all.map(([change, when]): Change => ({ ...change, ...when })))
  .map((all) =>
    all.filter((one, nth) => {
      const earlier = all.slice(0, nth).map(({ counter }) => counter)
      const overlaps = (other: string) =>
        other === one.counter || [other, one.counter].every((name) => name.startsWith('f'))
      return !earlier.some(overlaps)
    }),
  )

const ofLogin: fc.Arbitrary<Update> = fc.record({
  login: fc.constantFrom('one', 'two'),
  requires: requirements,
  changes: fc.constant([{ counter: 'a', add: 1, livesMs: [20 * MINUTE] }]),
  undo: fc.constant([{ counter: 'a', add: -1 }]),
})
const ofAccount: fc.Arbitrary<Update> = fc.record({ requires: requirements, changes })

const steps = fc.record({
  updates: fc.oneof(
    fc.tuple(ofAccount),
    fc.tuple(ofLogin, ofAccount),
    fc.tuple(fc.record({ login: fc.constantFrom('one', 'two'), requires: requirements, changes })),
  ),
  passMs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 15 * MINUTE }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 * HOUR }) },
  ),
})

describe('the steps of the four stores', () => {
  it('count and decide alike (R22, R23, R32)', { timeout: 90 * MINUTE }, async () => {
    const clock = stopClock()
    const stores: [string, StepStore][] = [['an object of the host', openSteps(ownStore())]]
    if (!redisMissing) stores.push(['Redis', openSteps({ redis: client })])
    if (!postgresMissing) stores.push(['PostgreSQL', openSteps({ postgres: { pool } })])
    const memory = openSteps('memory')
    let accounts = 0
    let permitted = 0
    let run = 0

    /** Everything that a store says after a step. */
    const say = async (store: StepStore, account: string, updates: readonly Update[]) => {
      const { isPermitted, counters } = await store.run(account, updates)
      const later = await store.read(account, ['one', 'two'])
      const said = [...counters, ...later].map((one) =>
        NAMES.map((name) => [name, one.count(name), one.msLeft(name)]),
      )
      return { isPermitted, said }
    }

    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: STEPS_OF_A_RUN }), async (sequence) => {
        const account = `account ${accounts++}`
        for (const { updates, passMs } of sequence) {
          clock.move(passMs)
          const expected = await say(memory, account, updates)
          if (expected.isPermitted) permitted++
          run++
          for (const [name, store] of stores) {
            expect({ store: name, ...(await say(store, account, updates)) }).toEqual({
              store: name,
              ...expected,
            })
          }
        }
      }),
      { numRuns: Math.ceil((2 * STEPS) / (STEPS_OF_A_RUN + 5)), endOnFailure: STEPS > 10_000 },
    )
    expect(run).toBeGreaterThan(STEPS / 2)
    // Refusals and permissions are both frequent.
    expect(permitted).toBeGreaterThan(run / 5)
    expect(permitted).toBeLessThan((run * 19) / 20)
  })
})
