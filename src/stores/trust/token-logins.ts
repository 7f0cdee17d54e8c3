import { createHmac } from 'node:crypto'
import { createNamespace, type ItemStore } from '../store.js'
import { newToken } from './devices.js'
import { BEYOND_TOKENS_MS } from './generations.js'

/** The logins of clients without cookies, each under the hash of its reference, and the key that marks claims. */
export interface TokenLogins {
  /** How long a login is kept, in milliseconds. */
  readonly lifeMs: number
  /** The text of a login. `undefined` if it was consumed, has expired, or never was. */
  read(id: string): Promise<StoredTokenLogin | undefined>
  /** Stores a login unless there is one under its id. */
  add(id: string, login: StoredTokenLogin): Promise<boolean>
  /** Changes a login that still is `before`. */
  swap(id: string, before: string, text: string): Promise<boolean>
  /** Ends or consumes a login. True for the first caller only, among all processes (R151). */
  take(id: string): Promise<boolean>
  /** A text that only processes with this store can compute (HMAC-SHA-256). */
  mark(text: string): Promise<string>
}

/** A login as it is stored. */
export interface StoredTokenLogin {
  readonly text: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

const ID = 'login'
const KEY = 'key'

/** Creates the logins with tokens in a store. */
export function createTokenLogins(store: ItemStore, lifeMs: number): TokenLogins {
  // The names are part of the storage format.
  const logins = createNamespace(store, 'token-login')
  const keys = createNamespace(store, 'token-key')
  let known: Promise<string> | undefined

  const findKey = async () => {
    const read = async () => (await keys.read(KEY)).find(({ id }) => id === KEY)?.value
    const found = await read()
    if (found !== undefined) return found
    const value = newToken()
    // Of several processes that start at once, one adds the key.
    if (await keys.add(KEY, { id: KEY, value, expiresAt: Date.now() + BEYOND_TOKENS_MS })) return value
    return (await read()) ?? value
  }

  return {
    lifeMs,
    async read(id) {
      const item = (await logins.read(id)).find((found) => found.id === ID)
      return item && { text: item.value, expiresAt: item.expiresAt }
    },
    add: (id, { text, expiresAt }) => logins.add(id, { id: ID, value: text, expiresAt }),
    swap: (id, before, text) => logins.swap(id, ID, before, text),
    take: (id) => logins.remove(id, ID),
    async mark(text) {
      known ??= findKey().catch((error: unknown) => {
        known = undefined
        throw error
      })
      return createHmac('sha256', await known)
        .update(text)
        .digest('base64url')
    },
  }
}
