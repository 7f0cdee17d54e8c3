import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { type Counters, group, type StepStore, type Update } from '../../src/stores/limits/step.js'
import { openSteps } from '../../src/stores/limits/step-store.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { poolOf } from './kit.js'

/*
 * A step is carried out by TypeScript in the process, by TypeScript around a store of the host, by a script in Redis and by a statement
 * in PostgreSQL. A difference between them would be a way around a limit. `COUNTER_STEPS=1000000` runs as many.
 */

const STEPS = Number(process.env.COUNTER_STEPS ?? 3_000)
const IS_LONG = STEPS > 10_000
/** Accounts that take their steps at the same time, so that no store waits for the other ones. */
const ACCOUNTS = IS_LONG ? 32 : 2
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
/** Times of a whole minute, so that what is left of a life is longer than a run takes: Redis deletes keys by its own clock. */
const minutes = (min: number, max: number) => fc.integer({ min, max }).map((count) => count * MINUTE)
const lives = fc.array(minutes(5, 90), { minLength: 1, maxLength: 3 })

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
  transaction: fc.constantFrom('one', 'two'),
  requires: requirements,
  changes: fc.constant([{ counter: 'a', add: 1, livesMs: [20 * MINUTE] }]),
  undo: fc.constant([{ counter: 'a', add: -1 }]),
})
const ofAccount: fc.Arbitrary<Update> = fc.record({ requires: requirements, changes })

const updates: fc.Arbitrary<Update[]> = fc.oneof(
  fc.tuple(ofAccount),
  fc.tuple(ofLogin, ofAccount),
  fc.tuple(fc.record({ transaction: fc.constantFrom('one', 'two'), requires: requirements, changes })),
)

/** A step of each account, and the time before it. */
const steps = fc.record({
  ofAccounts: fc.array(updates, { minLength: ACCOUNTS, maxLength: ACCOUNTS }),
  passMs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: minutes(0, 15) },
    { weight: 1, arbitrary: minutes(0, 120) },
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

    const saidOf = (counters: readonly Counters[]) =>
      counters.map((one) => NAMES.map((name) => [name, one.count(name), one.msLeft(name)]))
    /** The answer of a store of a step of each account. */
    const stepsIn = (store: StepStore, names: readonly string[], updates: readonly (readonly Update[])[]) =>
      Promise.all(
        names.map(async (account, nth) => {
          const { isPermitted, counters } = await store.run(account, updates[nth] ?? [])
          return { isPermitted, said: saidOf(counters) }
        }),
      )
    /** The answer of a store of all counters of each account. */
    const readIn = (store: StepStore, names: readonly string[]) =>
      Promise.all(names.map(async (account) => saidOf(await store.read(account, ['one', 'two']))))

    /** Has every store do the same, and compares what it says with what the memory says. */
    const compare = async <Said>(ask: (store: StepStore) => Promise<readonly Said[]>) => {
      const [expected, ...others] = await Promise.all([memory, ...stores.map(([, store]) => store)].map(ask))
      const text = JSON.stringify(expected)
      for (const [nth, said] of others.entries()) {
        // A million comparisons by `toEqual` would take longer than the steps.
        if (JSON.stringify(said) === text) continue
        expect({ store: stores[nth]?.[0], said }).toEqual({ store: stores[nth]?.[0], said: expected })
      }
      return expected ?? []
    }

    const property = fc.asyncProperty(
      fc.array(steps, { minLength: 5, maxLength: STEPS_OF_A_RUN }),
      async (sequence) => {
        const names = Array.from({ length: ACCOUNTS }, () => `account ${accounts++}`)
        for (const { ofAccounts, passMs } of sequence) {
          clock.move(passMs)
          const made = await compare((store) => stepsIn(store, names, ofAccounts))
          run += made.length
          permitted += made.filter(({ isPermitted }) => isPermitted).length
          if (!IS_LONG) await compare((store) => readIn(store, names))
        }
        await compare((store) => readIn(store, names))
      },
    )
    while (run < STEPS) await fc.assert(property, { numRuns: 20, endOnFailure: IS_LONG })
    if (IS_LONG) console.log(`${run} steps, of which ${permitted} were permitted`)
    // Refusals and permissions are both frequent.
    expect(permitted).toBeGreaterThan(run / 5)
    expect(permitted).toBeLessThan((run * 19) / 20)
  })
})
