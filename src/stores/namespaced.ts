import { storableName } from '../digest.js'
import { TrustStoreError } from '../errors.js'
import type { ItemStore, StoredItem } from './store.js'
import { inTime } from './timeout.js'

/** One kind of things in a store, by the user they belong to. */
export interface Namespace {
  /** Every item that still counts. */
  read(owner: string): Promise<readonly StoredItem[]>
  put(owner: string, item: StoredItem): Promise<void>
  swap(owner: string, id: string, before: string, value: string): Promise<boolean>
  remove(owner: string, id: string): Promise<boolean>
}

const LONGEST_OWNER = 80

/** The shelf of that name. What has run out is not on it, and its failures are errors of ours. */
export function namespaced(store: ItemStore, name: string): Namespace {
  const place = (owner: string) => `${name}:${storableName(owner, LONGEST_OWNER)}`
  return {
    async read(owner) {
      const items = await guarded(() => store.read(place(owner)))
      const now = Date.now()
      return items.filter(({ expiresAt }) => expiresAt > now)
    },
    put: (owner, item) => guarded(() => store.put(place(owner), item)),
    swap: (owner, id, before, value) => guarded(() => store.swap(place(owner), id, before, value)),
    remove: (owner, id) => guarded(() => store.remove(place(owner), id)),
  }
}

async function guarded<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await inTime(step())
  } catch (cause) {
    throw new TrustStoreError(
      'The store of trusted devices failed. Is what the option trustedDevices.store names running and reachable?',
      { cause },
    )
  }
}
