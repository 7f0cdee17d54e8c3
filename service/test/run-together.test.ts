import { afterEach, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../src/store/outages.js'
import { runTogether } from '../src/store/run-together.js'

afterEach(() => vi.useRealTimers())

const ITEMS = ['a1', 'a2', 'b1', 'c1', 'd1', 'e1']

/** A runner whose runs end when `finish` is called. The first character of an item is its owner and only key, what follows `/` its group. */
function runner({
  maxItems = 3,
  nextRunMs = 60_000,
  maxWaitMs = 60_000,
  fail = (_items: readonly string[]): Error | undefined => undefined,
} = {}) {
  const runs: { readonly items: readonly string[]; finish(): void }[] = []
  const add = runTogether(
    (items: readonly string[]) =>
      new Promise<string[]>((resolve, reject) => {
        const error = fail(items)
        const finish = () => (error ? reject(error) : resolve(items.map((item) => item.toUpperCase())))
        runs.push({ items, finish })
      }),
    {
      sharingOf: (item) => ({
        group: item.split('/')[1] ?? '',
        owner: item.slice(0, 1),
        keys: [item.slice(0, 1)],
      }),
      maxItems,
      nextRunMs,
      maxWaitMs,
    },
  )
  /** Finishes each run as soon as it has begun, until none is left. */
  const finishAll = async () => {
    for (let next = 0; next < runs.length; next++) {
      runs[next]?.finish()
      await new Promise(setImmediate)
    }
  }
  return { add, runs, finishAll, items: () => runs.map(({ items }) => items) }
}

test('what arrives during a run shares the next one, up to the limit, and items of one owner run one after the other', async () => {
  const { add, finishAll, items } = runner()
  const results = Promise.all(ITEMS.map(add))
  await finishAll()
  expect(await results).toEqual(['A1', 'A2', 'B1', 'C1', 'D1', 'E1'])
  expect(items()).toEqual([['a1'], ['a2', 'b1', 'c1'], ['d1', 'e1']])
})

test('items wait no longer than allowed for a run in progress, but still for one of their owner', async () => {
  const { add, finishAll, items } = runner({ nextRunMs: 1 })
  const results = Promise.all(['a1', 'a2', 'b1'].map(add))
  expect(items()).toEqual([['a1']])
  await expect.poll(items).toEqual([['a1'], ['b1']])
  await finishAll()
  expect(await results).toEqual(['A1', 'A2', 'B1'])
  expect(items()).toEqual([['a1'], ['b1'], ['a2']])
})

test('an item that had to wait for too long is rejected, and does not run', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { add, finishAll, items } = runner({ maxWaitMs: 5_000 })
  const results = Promise.allSettled(['a1', 'a2'].map(add))
  vi.advanceTimersByTime(5_001)
  await finishAll()
  expect(await results).toEqual([
    { status: 'fulfilled', value: 'A1' },
    { status: 'rejected', reason: expect.objectContaining({ reason: 'overloaded' }) },
  ])
  expect(items()).toEqual([['a1']])
})

test('groups neither share a run nor wait for each other', async () => {
  const { add, finishAll, items } = runner()
  const results = Promise.all(['a/1', 'b/1', 'c/2', 'd/1', 'e/2'].map(add))
  expect(items()).toEqual([['a/1'], ['c/2']])
  await finishAll()
  expect(await results).toHaveLength(5)
  expect(items()).toEqual([['a/1'], ['c/2'], ['b/1', 'd/1'], ['e/2']])
})

test('an item that the database refuses fails alone', async () => {
  const fail = (items: readonly string[]) =>
    items.includes('c1')
      ? Object.assign(new Error('c1 is invalid'), { code: '22021', severity: 'ERROR' })
      : undefined
  const { add, finishAll, items } = runner({ fail })
  const results = Promise.allSettled(ITEMS.map(add))
  await finishAll()
  expect((await results).map((result) => ('value' in result ? result.value : result.reason.message))).toEqual(
    [...['A1', 'A2', 'B1', 'c1 is invalid', 'D1', 'E1']],
  )
  expect(items()).toEqual([['a1'], ['a2', 'b1', 'c1'], ['a2'], ['b1'], ['c1'], ['d1', 'e1']])
})

test.each([
  ['a database that is unavailable', new StoreUnavailableError('unreachable', { cause: undefined })],
  ['an error after the statement', new Error('Unexpected rows.')],
])('%s fails all items of a run, and none of them runs again', async (_what, error) => {
  const fail = (items: readonly string[]) => (items.length > 2 ? error : undefined)
  const { add, finishAll, items } = runner({ fail })
  const results = Promise.allSettled(ITEMS.map(add))
  await finishAll()
  expect((await results).map(({ status }) => status)).toEqual([
    ...['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled', 'fulfilled'],
  ])
  expect(items()).toHaveLength(3)
})
