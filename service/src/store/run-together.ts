import { sqlStateOf } from './sql-state.js'
import type { Store } from './store.js'
import { StoreUnavailableError } from './store-unavailable.js'

/** With what an item can run. */
export interface Place {
  /** Only items of one group share a run. */
  readonly group: string
  /** Items of one owner run one after the other, so that a flood of them cannot hold up everything else. */
  readonly owner: string
  /** Items of a run have none of these in common. */
  readonly keys: readonly string[]
}

/** The limits of `runTogether` for requests of an application, which share statements. */
export const SHARED_STATEMENTS = {
  maxItems: 16,
  /** So that a request for a locked row holds others up for a moment only. */
  maxWaitMs: 20,
} as const

interface Waiting<Item, Result> extends Place {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Runs items together: those that come while a run of their group is in progress wait for it, at most `maxWaitMs`, and then share
 * the next run if their places allow it. `run` returns one result for each item. When the database refuses a statement, which may
 * be because of one of its items, each of them runs again alone.
 */
export function runTogether<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  {
    placeOf,
    maxItems,
    maxWaitMs,
  }: { readonly placeOf: (item: Item) => Place; readonly maxItems: number; readonly maxWaitMs: number },
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  const owners = new Set<string>()
  /** The run of each group that others wait for. */
  const awaited = new Map<string, readonly Waiting<Item, Result>[]>()

  function start(): void {
    for (let items = takeItems(); items[0]; items = takeItems()) void settleAll(items[0].group, items)
  }

  /** The longest waiting item that can run, and those that can run with it. */
  function takeItems(): readonly Waiting<Item, Result>[] {
    const taken: Waiting<Item, Result>[] = []
    const keys = new Set<string>()
    waiting = waiting.filter((one) => {
      const fits =
        taken.length < maxItems &&
        (taken[0] ? one.group === taken[0].group : !awaited.has(one.group)) &&
        !owners.has(one.owner) &&
        !one.keys.some((key) => keys.has(key))
      if (fits) {
        taken.push(one)
        for (const key of one.keys) keys.add(key)
      }
      return !fits
    })
    return taken
  }

  async function settleAll(group: string, items: readonly Waiting<Item, Result>[]): Promise<void> {
    awaited.set(group, items)
    for (const { owner } of items) owners.add(owner)
    const startOthers = () => {
      if (awaited.get(group) === items) awaited.delete(group)
      start()
    }
    const timer = setTimeout(startOthers, maxWaitMs)
    await settle(items)
    clearTimeout(timer)
    for (const { owner } of items) owners.delete(owner)
    startOthers()
  }

  async function settle(items: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(items.map(({ item }) => item))
      items.forEach(({ resolve }, index) => void resolve(results[index] as Result))
    } catch (error) {
      if (items.length > 1 && isRefused(error)) {
        for (const one of items) await settle([one])
      } else {
        for (const { reject } of items) reject(error)
      }
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, ...placeOf(item), resolve, reject })
      start()
    })
}

/** Whether the database refused a statement for what is in it, and so changed nothing. */
function isRefused(error: unknown): boolean {
  return sqlStateOf(error) !== undefined && !(error instanceof StoreUnavailableError)
}

/** Makes what belongs to a store once for each store. */
export function perStore<T>(make: (store: Store) => T): (store: Store) => T {
  const made = new WeakMap<Store, T>()
  return (store) => {
    const known = made.get(store) ?? make(store)
    made.set(store, known)
    return known
  }
}
