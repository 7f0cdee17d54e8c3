/** Something kept for an owner, under an id of its own. */
export interface StoredItem {
  readonly id: string
  /** Text that only we read. */
  readonly value: string
  /** When it counts no longer, in milliseconds since 1970. A store may forget it then, and need not. */
  readonly expiresAt: number
}

/**
 * Where trusted devices and the like are kept: items by owner and id. Owners and ids are printable ASCII of at most
 * 120 characters; values are texts of at most 2,000. Every step is whole: of two requests at once, one is told "yes".
 */
export interface ItemStore {
  /** Every item of the owner. */
  read(owner: string): Promise<readonly StoredItem[]>
  /** Keeps the item, in place of the one of that id if there is one. */
  put(owner: string, item: StoredItem): Promise<void>
  /** Gives the item another value if its value still is `before`; whether it was. */
  swap(owner: string, id: string, before: string, value: string): Promise<boolean>
  /** Forgets the item; true for the one caller that did. */
  remove(owner: string, id: string): Promise<boolean>
}
