import { digestOf } from '../../digest.js'
import { createNamespace, type ItemStore } from '../store.js'

/** The browsers in which users signed in, as hashes, to notify users of one that is new for them. */
export interface KnownBrowsers {
  /** Remembers a sign-in in this browser. True, for one caller, if it is new and the user signed in elsewhere before. */
  meet(userId: string, browser: string): Promise<boolean>
  /** Forgets the browsers in which the user first signed in at that time, in milliseconds since 1970, or later. */
  forgetSince(userId: string, at: number): Promise<void>
}

/** How long a browser is known after the last sign-in in it. */
export const KNOWN_BROWSER_MS = 365 * 24 * 60 * 60_000

/** How many browsers of a user are known; the one that was unused for longest is forgotten. */
const MAX_BROWSERS = 20

/** Creates the known browsers in a store. */
export function createKnownBrowsers(store: ItemStore): KnownBrowsers {
  const items = createNamespace(store, 'browsers')
  return {
    async meet(userId, browser) {
      const now = Date.now()
      const known = await items.read(userId)
      const id = digestOf(browser)
      const expiresAt = now + KNOWN_BROWSER_MS
      const earlier = known.find((browser) => browser.id === id)
      if (earlier) {
        await items.put(userId, { ...earlier, expiresAt })
        return false
      }
      if (!(await items.add(userId, { id, value: String(now), expiresAt }))) return false
      const oldest = [...known].sort((one, other) => one.expiresAt - other.expiresAt)
      for (const { id: last } of oldest.slice(0, Math.max(0, known.length + 1 - MAX_BROWSERS)))
        await items.remove(userId, last)
      return known.length > 0
    },
    async forgetSince(userId, at) {
      const known = await items.read(userId)
      for (const { id, value } of known) if (Number(value) >= at) await items.remove(userId, id)
    },
  }
}
