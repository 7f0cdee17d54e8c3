import { digestOf } from '../../digest.js'
import { remember } from '../../remember.js'
import { DAY_MS } from '../../time.js'
import type { ItemStore } from '../store.js'

/** How often the sessions of a user have ended, which tells tokens that ended from those that were issued later. */
export interface Generation {
  readonly count: number
  /** The id of the last end of the user's sessions. */
  readonly lastEnd: string | undefined
  /** Whether a token ended: one of an earlier generation, unless its login was spared, or by its time if only that is known. */
  hasEnded(token: IssuedToken): boolean
}

/** The part of a token that tells when it was issued. */
interface IssuedToken {
  readonly generation?: number | undefined
  /** The id of its login. */
  readonly sid?: string | undefined
  /** In milliseconds since 1970. */
  readonly issuedAt?: number | undefined
}

/** The generations of all users. */
export interface Generations {
  /** The generation as this process read it within the last ten seconds. */
  recent(userId: string): Promise<Generation>
  /** The generation as the store has it now. */
  read(userId: string): Promise<Generation>
  /** Begins the next generation. The tokens of the login `exceptSid` go on in it. */
  rise(userId: string, exceptSid?: string): Promise<void>
}

/** How long the requests of a process rely on what one of them read (R152). */
const RECENT_MS = 10_000

/** Longer than any token lives. */
export const BEYOND_TOKENS_MS = 3_650 * DAY_MS

/** Of parallel ends, each tries again until it has its own number. */
const MOST_TRIES = 50

/** The id of the item with the number of ends. */
export const GENERATION = 'generation'

/** Counts in `items`, beside the end of the user's sessions, so that one read finds both. `endIn` finds the id of that end. */
export function createGenerations(
  items: ItemStore,
  endIn: (found: Awaited<ReturnType<ItemStore['read']>>) => string | undefined,
): Generations {
  const remembered = new Map<string, { readonly found: Promise<Generation>; readonly at: number }>()
  const read = async (userId: string): Promise<Generation> => {
    const found = await items.read(userId)
    const { count, at, spared } = parse(found.find(({ id }) => id === GENERATION)?.value)
    return {
      count,
      lastEnd: endIn(found),
      hasEnded({ generation, sid, issuedAt = 0 }) {
        const isEarlier = generation === undefined ? count > 0 && !(issuedAt > at) : generation < count
        return isEarlier && !(sid !== undefined && digestOf(sid) === spared)
      },
    }
  }
  return {
    read,
    recent(userId) {
      const known = remembered.get(userId)
      const ageMs = known ? Date.now() - known.at : -1
      if (known && ageMs >= 0 && ageMs < RECENT_MS) return known.found
      const found = read(userId)
      remember(remembered, userId, { found, at: Date.now() })
      // A failure is no answer.
      found.catch(() => remembered.delete(userId))
      return found
    },
    async rise(userId, exceptSid) {
      const expiresAt = Date.now() + BEYOND_TOKENS_MS
      for (let tries = 1; tries <= MOST_TRIES; tries++) {
        const item = (await items.read(userId)).find(({ id }) => id === GENERATION)
        const count = parse(item?.value).count + 1
        const value = `${count} ${Date.now()} ${exceptSid === undefined ? '' : digestOf(exceptSid)}`
        const isRaised = item
          ? await items.swap(userId, GENERATION, item.value, value)
          : await items.add(userId, { id: GENERATION, value, expiresAt })
        remembered.delete(userId)
        if (isRaised) return
      }
      throw new Error('The sessions of a user ended too often at once, so their tokens have not ended.')
    },
  }
}

function parse(value = '0 0 ') {
  const [count, at, spared] = value.split(' ')
  return { count: Number(count), at: Number(at), spared }
}
