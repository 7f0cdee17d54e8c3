import * as z from 'zod'
import { digestOf } from '../digest.js'
import { canonicalUser } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'
import { namespaced } from '../stores/namespaced.js'
import type { ItemStore } from '../stores/store.js'

const resetSchema = z.object({
  kind: z.enum(['recovery']),
  at: z.number(),
  /** The digests of the factors that ended. */
  ended: z.array(z.string()),
})

/** Factors of an account ended, and its user has to set up a new one. */
export type Reset = Readonly<z.output<typeof resetSchema>>

/** The accounts that wait for a new factor. */
export interface Resets {
  /** Ends factors of the user, who has to set up a new one at the next sign-in. */
  open(userId: string, kind: Reset['kind'], ended: readonly Factor[]): Promise<void>
  /** The user's open reset. */
  find(userId: string): Promise<Reset | undefined>
  /** The user has set up a new factor. */
  close(userId: string): Promise<void>
  /** The factors without those that ended, whether or not the host still lists them. */
  remaining(userId: string, factors: readonly Factor[]): Promise<readonly Factor[]>
}

// A reset stays open until a new factor is set up.
const RETENTION_MS = 10 * 365 * 24 * 60 * 60_000
const ID = 'reset'

/** Resets in `store`. */
export function resetsIn(store: ItemStore): Resets {
  // The name is part of the storage format.
  const items = namespaced(store, 'reset')

  const find = async (userId: string) => {
    const item = (await items.read(userId)).find(({ id }) => id === ID)
    return item && resetSchema.parse(JSON.parse(item.value))
  }

  return {
    async open(userId, kind, ended) {
      const now = Date.now()
      const reset: Reset = { kind, at: now, ended: ended.map(digestOfFactor) }
      await items.put(userId, { id: ID, value: JSON.stringify(reset), expiresAt: now + RETENTION_MS })
    },
    find,
    async close(userId) {
      await items.remove(userId, ID)
    },
    async remaining(userId, factors) {
      const reset = await find(userId)
      return reset ? factors.filter((factor) => !reset.ended.includes(digestOfFactor(factor))) : factors
    },
  }
}

function digestOfFactor({ method, contact }: Factor): string {
  return digestOf(`${method} ${canonicalUser(contact)}`)
}
