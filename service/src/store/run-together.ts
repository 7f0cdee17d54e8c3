import { StoreUnavailableError } from './outages.js'
import { findSqlState } from './sql-state.js'
import type { Store } from './store.js'

/** With which others an item may share a run. */
export interface Sharing {
  /** Only items of one group share a run. */
  readonly group: string
  /** Items of one owner run one after the other, so that a flood of them cannot hold up everything else. */
  readonly owner: string
  /** Items of a run have none of these in common. */
  readonly keys: readonly string[]
}

/** The limits of `runTogether` for requests of an application, which share statements. */
export const SHARED_STATEMENTS = { maxItems: 16, nextRunMs: 20, maxWaitMs: 5_000 } as const

interface Waiting<Item, Result> extends Sharing {
  readonly item: Item
  readonly since: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Runs items together, in the way of `writeTogether`, but only those that may share a run. Items that come while a run of their
 * group is in progress wait for it, and then share the next one, which starts after `nextRunMs` at the latest: so a run that waits
 * for a locked row holds up its own items only. `run` returns one result for each item. When the database refuses a statement, which
 * may be because of one of its items, each of them runs again alone. An item that had to wait for more than `maxWaitMs` does not
 * run: it is rejected with a `StoreUnavailableError`.
 */
export function runTogether<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  rules: {
    readonly sharingOf: (item: Item) => Sharing
    readonly maxItems: number
    readonly nextRunMs: number
    readonly maxWaitMs: number
  },
): (item: Item) => Promise<Result> {
  const { sharingOf, maxItems, nextRunMs, maxWaitMs } = rules
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
    const late = performance.now() - maxWaitMs
    waiting = waiting.filter((item) => {
      if (item.since < late) {
        item.reject(new StoreUnavailableError('overloaded', { cause: undefined }))
        return false
      }
      const fits =
        taken.length < maxItems &&
        (taken[0] ? item.group === taken[0].group : !awaited.has(item.group)) &&
        !owners.has(item.owner) &&
        !item.keys.some((key) => keys.has(key))
      if (!fits) return true
      taken.push(item)
      owners.add(item.owner)
      for (const key of item.keys) keys.add(key)
      return false
    })
    return taken
  }

  async function settleAll(group: string, items: readonly Waiting<Item, Result>[]): Promise<void> {
    awaited.set(group, items)
    const startOthers = () => {
      if (awaited.get(group) === items) awaited.delete(group)
      start()
    }
    const timer = setTimeout(startOthers, nextRunMs)
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
      // The database refused the statement for what is in it, and so changed nothing.
      const isRefused = findSqlState(error) !== undefined && !(error instanceof StoreUnavailableError)
      if (items.length > 1 && isRefused) {
        await Promise.all(items.map((item) => settle([item])))
      } else {
        for (const { reject } of items) reject(error)
      }
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, since: performance.now(), ...sharingOf(item), resolve, reject })
      start()
    })
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
