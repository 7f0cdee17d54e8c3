import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { no, nothing } from '../../no-op.js'
import { DAY_MS } from '../../time.js'
import { type ItemStore, namespaced } from '../store.js'
import { type Links, linksIn } from './links.js'

const subjectSchema = z.object({ userId: z.string(), at: z.number() })

/** The user whose sessions and trusted devices a link ends, and when its notice was written. */
export type NotMeSubject = Readonly<z.output<typeof subjectSchema>>

/** The "this wasn't me" links in account notices. Each works once. */
export interface NotMeLinks extends Omit<Links<NotMeSubject>, 'issue'> {
  /** Creates a link for seven days and returns its token; `undefined` in an app without links. */
  issue(subject: NotMeSubject): Promise<string | undefined>
}

/** The time before which a user's sessions, pending logins and trusted devices are void. */
export interface SessionsValidAfter {
  /** Whether times are kept. Without them, nothing is void. */
  readonly areKept: boolean
  /** Whether something that started at `startedAt` (milliseconds since 1970), or the session with this id, is void. */
  isVoid(userId: string, startedAt: number, sessionId?: string): Promise<boolean>
  /** Voids one session, whoever stores it again (R149). Kept for the last 20 of a user. */
  endSession(userId: string, sessionId: string): Promise<void>
  /** Voids everything that started before now. @throws {TypeError} where no times are kept */
  set(userId: string): Promise<void>
}

/** The links and times by which a user's sessions end early. */
export interface Endings {
  readonly notMeLinks: NotMeLinks
  readonly sessionsValidAfter: SessionsValidAfter
}

// Users may read a notice days later.
const LIFE_MS = 7 * DAY_MS
// Browsers keep no cookie for longer (RFC 6265bis §5.5), so no older session can come back afterwards.
const RETENTION_MS = 400 * DAY_MS
const MAX_ENDED = 20
const CUTOFF = 'cutoff'

/** Keeps links and times in `store`. `onEnded` is called for a user whose sessions ended. */
export function endingsIn(store: ItemStore, onEnded?: (userId: string) => Promise<void>): Endings {
  // The names are part of the storage format.
  const links = linksIn(store, 'undo', subjectSchema)
  const items = namespaced(store, CUTOFF)
  return {
    notMeLinks: { ...links, issue: (subject) => links.issue(subject, Date.now() + LIFE_MS) },
    sessionsValidAfter: {
      areKept: true,
      async isVoid(userId, startedAt, sessionId) {
        const ended = sessionId && digestOf(sessionId)
        // Both in one read, since every page waits for it.
        return (await items.read(userId)).some(({ id, value }) =>
          id === CUTOFF ? !(startedAt > Number(value)) : id === ended,
        )
      },
      async endSession(userId, sessionId) {
        const expiresAt = Date.now() + RETENTION_MS
        await items.put(userId, { id: digestOf(sessionId), value: '', expiresAt })
        const ended = (await items.read(userId)).filter(({ id }) => id !== CUTOFF)
        const byAge = [...ended].sort((one, other) => other.expiresAt - one.expiresAt)
        for (const { id } of byAge.slice(MAX_ENDED)) await items.remove(userId, id)
      },
      async set(userId) {
        const now = Date.now()
        await items.put(userId, { id: CUTOFF, value: String(now), expiresAt: now + RETENTION_MS })
        // The sessions ended, whatever becomes of what they left.
        await onEnded?.(userId).catch(() => {})
      },
    },
  }
}

/** For an app that gives no address for links. */
export const NO_ENDINGS: Endings = {
  notMeLinks: { issue: nothing, find: nothing, redeem: nothing },
  sessionsValidAfter: {
    areKept: false,
    isVoid: no,
    endSession: nothing,
    // Recovery and links need urls.publicUrl, so only account.secure gets here.
    async set() {
      throw new TypeError(
        'account.secure needs a store for the time before which sessions ended, and nothing was ended. Give urls.publicUrl, and notices.store, trustedDevices or recovery.',
      )
    },
  },
}
