import { storableName } from '../digest.js'
import { TrustStoreError } from '../errors.js'
import type { ItemStore, StoredItem } from './store.js'
import { withStoreTimeout } from './timeout.js'

/** The part of a store whose keys share one prefix. Items belong to users. Failures are thrown as `TrustStoreError`. */
export interface Namespace {
  /** Returns the user's items that have not expired. */
  read(owner: string): Promise<readonly StoredItem[]>
  /** Adds the item unless there is one with the same id that has not expired. Returns whether it was added. */
  add(owner: string, item: StoredItem): Promise<boolean>
  put(owner: string, item: StoredItem): Promise<void>
  swap(owner: string, id: string, before: string, value: string): Promise<boolean>
  remove(owner: string, id: string): Promise<boolean>
}

const MAX_OWNER_LENGTH = 80

/** The namespace `name` in `store`. */
export function namespaced(store: ItemStore, name: string): Namespace {
  const keyOf = (owner: string) => `${name}:${storableName(owner, MAX_OWNER_LENGTH)}`
  return {
    async read(owner) {
      const items = await guarded(() => store.read(keyOf(owner)))
      const now = Date.now()
      return items.filter(({ expiresAt }) => expiresAt > now)
    },
    add: (owner, item) => guarded(() => store.add(keyOf(owner), item)),
    put: (owner, item) => guarded(() => store.put(keyOf(owner), item)),
    swap: (owner, id, before, value) => guarded(() => store.swap(keyOf(owner), id, before, value)),
    remove: (owner, id) => guarded(() => store.remove(keyOf(owner), id)),
  }
}

async function guarded<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await withStoreTimeout(step())
  } catch (cause) {
    throw new TrustStoreError(
      'The store of trusted devices, notices and recoveries failed. Check that the store in trustedDevices.store, notices.store or recovery.store is running and reachable.',
      { cause },
    )
  }
}
