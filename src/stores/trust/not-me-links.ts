import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { answerNo, nothing } from '../../no-op.js'
import type { TokenEnd } from '../../protocol/token-claims.js'
import { DAY_MS } from '../../time.js'
import { createNamespace, type ItemStore } from '../store.js'
import { newId } from './devices.js'
import { createGenerations, GENERATION, type Generations } from './generations.js'
import { createLinks, type Links } from './links.js'

const subjectSchema = z.object({ userId: z.string(), at: z.number() })

/** The user whose sessions and trusted devices a link ends, and when its notice was written. */
export type NotMeSubject = Readonly<z.output<typeof subjectSchema>>

/** The "this wasn't me" links in account notices. Each works once. */
export interface NotMeLinks extends Omit<Links<NotMeSubject>, 'issue'> {
  /** Creates a link for seven days and returns its token; `undefined` in an app without links. */
  issue(subject: NotMeSubject): Promise<string | undefined>
}

/** When something of a user began, in milliseconds since 1970, and after which end of the user's sessions, if there was one. */
interface Begun {
  readonly startedAt: number
  readonly lastEnd?: string | undefined
  /** The session that it belongs to. */
  readonly sessionId?: string
}

/**
 * The last end of a user's sessions, pending logins and trusted devices, before which all of them are void. What began is told from
 * what ended by the id of that end, which the store keeps, since the clocks of two processes may differ.
 */
export interface SessionsValidAfter {
  /** Whether ends are kept. Without them, nothing is void. */
  readonly areKept: boolean
  /** The id of the last end, which everything that begins now comes after. */
  lastEnd(userId: string): Promise<string | undefined>
  /** Whether something is void: its session ended, or by the last end, or by its time alone if only that is known. */
  isVoid(userId: string, began: Begun | number): Promise<boolean>
  /** Voids one session, also if a request stores it again (R149). Kept for the last 20 of a user. */
  endSession(userId: string, sessionId: string): Promise<void>
  /**
   * Voids everything that began before, and returns the id of this end. `why` is absent if the same change ends it once more.
   * @throws {TypeError} where no ends are kept
   */
  set(userId: string, why?: TokenEnd['reason']): Promise<string>
}

/** The links and times by which a user's sessions end early. */
export interface Endings {
  readonly notMeLinks: NotMeLinks
  readonly sessionsValidAfter: SessionsValidAfter
  /** Which tokens ended with them. */
  readonly generations: Generations
}

// Users may read a notice days later.
const LIFE_MS = 7 * DAY_MS
// Browsers keep no cookie for longer (RFC 6265bis §5.5), so no older session can come back afterwards.
const RETENTION_MS = 400 * DAY_MS
const MAX_ENDED = 20
const CUTOFF = 'cutoff'

/** Called for a user whose sessions ended. */
export type OnSessionsEnded = (userId: string, why: TokenEnd['reason'] | undefined) => Promise<void>

/** Keeps links and times in `store`. */
export function createEndings(store: ItemStore, onEnded?: OnSessionsEnded): Endings {
  // The names are part of the storage format.
  const links = createLinks(store, 'undo', subjectSchema)
  const items = createNamespace(store, CUTOFF)
  const findLast = (ends: Awaited<ReturnType<ItemStore['read']>>) =>
    ends.find((end) => end.id === CUTOFF)?.value.split(' ') ?? []
  const read = async (userId: string) => {
    const ends = await items.read(userId)
    const [at, id] = findLast(ends)
    return { at, id, ends }
  }
  const generations = createGenerations(items, (ends) => findLast(ends)[1])
  return {
    notMeLinks: { ...links, issue: (subject) => links.issue(subject, Date.now() + LIFE_MS) },
    generations,
    sessionsValidAfter: {
      areKept: true,
      lastEnd: async (userId) => (await read(userId)).id,
      async isVoid(userId, began) {
        const { startedAt, lastEnd, sessionId } = typeof began === 'object' ? began : { startedAt: began }
        // Both in one read, since every page waits for it.
        const { at, id, ends } = await read(userId)
        const ended = sessionId !== undefined && ends.length > 0 && digestOf(sessionId)
        if (ended && ends.some((end) => end.id === ended)) return true
        if (typeof began === 'object' && id !== undefined) return lastEnd !== id
        return at !== undefined && !(startedAt > Number(at))
      },
      async endSession(userId, sessionId) {
        const expiresAt = Date.now() + RETENTION_MS
        await items.put(userId, { id: digestOf(sessionId), value: '', expiresAt })
        const ended = (await items.read(userId)).filter(({ id }) => id !== CUTOFF && id !== GENERATION)
        const byAge = [...ended].sort((one, other) => other.expiresAt - one.expiresAt)
        for (const { id } of byAge.slice(MAX_ENDED)) await items.remove(userId, id)
      },
      async set(userId, why) {
        const [now, id] = [Date.now(), newId()]
        await items.put(userId, { id: CUTOFF, value: `${now} ${id}`, expiresAt: now + RETENTION_MS })
        await generations.rise(userId)
        // The sessions ended, whatever becomes of what they left.
        await onEnded?.(userId, why).catch(() => {})
        return id
      },
    },
  }
}

/** For an app without tokens that gives no address for links. */
export const NO_ENDINGS: Omit<Endings, 'generations'> = {
  notMeLinks: { issue: nothing, find: nothing, redeem: nothing },
  sessionsValidAfter: {
    areKept: false,
    lastEnd: nothing,
    isVoid: answerNo,
    endSession: nothing,
    // Recovery and links need urls.publicUrl, so only account.secure gets here.
    async set() {
      throw new TypeError(
        'account.secure needs a store for the time before which sessions ended, and nothing was ended. Give urls.publicUrl, and notices.store, trustedDevices or recovery.',
      )
    },
  },
}
