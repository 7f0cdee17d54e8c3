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
 * A store for trusted devices, account recoveries and the links in notices: items by owner and id. Owners and ids are printable
 * ASCII of at most 120 characters; values are texts of at most 2,000 characters. Every method must be atomic: of two
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
