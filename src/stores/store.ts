import { storableName } from '../digest.js'
import { TrustStoreError } from '../errors.js'
import { limitTime } from '../time.js'

/** An item in a store: a value that belongs to an owner and has an id. */
export interface StoredItem {
  /** The id of the item, unique for its owner. */
  readonly id: string
  /** Opaque text; only this package reads it. */
  readonly value: string
  /** When the item expires, in milliseconds since 1970. A store may delete it then, but need not. */
  readonly expiresAt: number
}

/**
 * A store for trusted devices, account recoveries, logins without a session and the links in notices: items by owner and id. Owners and ids are printable
 * ASCII of at most 120 characters; values are texts of at most 4,000 characters. Every method must be atomic: of two
 * concurrent `add`, `swap` or `remove` calls for the same item, only one returns `true`.
 */
export interface ItemStore {
  /** Returns all items of the owner. */
  read(owner: string): Promise<readonly StoredItem[]>
  /** Adds the item unless the owner has one with the same id that has not expired. Returns whether it was added. */
  add(owner: string, item: StoredItem): Promise<boolean>
  /** Adds the item, or replaces the one with the same id. */
  put(owner: string, item: StoredItem): Promise<void>
  /** Changes the item's value if it still is `before`. Returns whether it was. */
  swap(owner: string, id: string, before: string, value: string): Promise<boolean>
  /** Removes the item. Returns `true` only for the call that removed it. */
  remove(owner: string, id: string): Promise<boolean>
}

/**
 * A store of your own for the counters of wrong codes and messages, shared by all processes of the app: texts by key. Keys are
 * printable ASCII of at most 200 characters; texts have less than 4,000. `replace` must be atomic: of two processes that
 * replace the same text at once, one gets `true`. A method that throws, or takes longer than 3 seconds, is a
 * `LimitsStoreError`, and no code is evaluated.
 */
export interface CounterStore {
  /** Returns the text under the key, or `undefined` when there is none or its time is over. */
  read(key: string): Promise<string | undefined>
  /** Keeps `after` for `lifeMs` milliseconds if the text still is `before`, or missing if that is `undefined`. Returns whether it did. */
  replace(key: string, before: string | undefined, after: string, lifeMs: number): Promise<boolean>
}

const MAX_OWNER_LENGTH = 80

/** The namespace `name` in `store`. It returns no expired items, and throws failures as `TrustStoreError`. */
export function createNamespace(store: ItemStore, name: string): ItemStore {
  const keyOf = (owner: string) => `${name}:${storableName(owner, MAX_OWNER_LENGTH)}`
  return {
    async read(owner) {
      const items = await guardStep(() => store.read(keyOf(owner)))
      const now = Date.now()
      return items.filter(({ expiresAt }) => expiresAt > now)
    },
    add: (owner, item) => guardStep(() => store.add(keyOf(owner), item)),
    put: (owner, item) => guardStep(() => store.put(keyOf(owner), item)),
    swap: (owner, id, before, value) => guardStep(() => store.swap(keyOf(owner), id, before, value)),
    remove: (owner, id) => guardStep(() => store.remove(keyOf(owner), id)),
  }
}

async function guardStep<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await limitStoreTime(step())
  } catch (cause) {
    throw new TrustStoreError(
      'The store of trusted devices, notices and recoveries failed. Check that the store in trustedDevices.store, notices.store or recovery.store is running and reachable.',
      { cause },
    )
  }
}

/** How long a store operation may take. */
const STORE_TIMEOUT_MS = 3_000

/** Resolves like a store operation, or rejects when it takes too long. */
export function limitStoreTime<Result>(operation: Promise<Result>): Promise<Result> {
  return limitTime(operation, STORE_TIMEOUT_MS)
}

/** Sweeps at most once an hour, first at the first call, or an hour after `sweptAt`. A clock that is set back does not stop it. */
export function hourly<Result>(sweep: (now: number) => Result, sweptAt?: number): () => Result | undefined {
  let last = sweptAt ?? Number.NEGATIVE_INFINITY
  return () => {
    const now = Date.now()
    if (Math.abs(now - last) < 60 * 60_000) return undefined
    last = now
    return sweep(now)
  }
}
