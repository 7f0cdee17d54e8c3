import * as z from 'zod'
import { DAY_MS } from '../../time.js'
import { type ItemStore, namespaced } from '../store.js'
import { type Links, linksIn } from './links.js'

const subjectSchema = z.object({ userId: z.string(), at: z.number() })

/** The user whose sessions and trusted devices a link ends, and when its notice was written. */
export type NotMeSubject = Readonly<z.output<typeof subjectSchema>>

/** The "this wasn't me" links in account notices. Each works once. */
export interface NotMeLinks extends Omit<Links<NotMeSubject>, 'issue'> {
  /** Creates a link for seven days and returns its token. */
  issue(subject: NotMeSubject): Promise<string>
}

// Users may read a notice days later.
const LIFE_MS = 7 * DAY_MS

export function notMeLinksIn(store: ItemStore): NotMeLinks {
  const links = linksIn(store, 'undo', subjectSchema)
  return { ...links, issue: (subject) => links.issue(subject, Date.now() + LIFE_MS) }
}

/** The time before which a user's sessions, pending logins and trusted devices are void. */
export interface SessionsValidAfter {
  /** Whether something that started at `startedAt` (milliseconds since 1970) is void. */
  isVoid(userId: string, startedAt: number): Promise<boolean>
  /** Voids everything that started before now. */
  set(userId: string): Promise<void>
}

// Browsers keep no cookie for longer (RFC 6265bis §5.5), so no older session can come back afterwards.
const RETENTION_MS = 400 * DAY_MS

/** Keeps the times in `store`. */
export function sessionsValidAfterIn(store: ItemStore): SessionsValidAfter {
  // The names are part of the storage format.
  const items = namespaced(store, 'cutoff')
  return {
    async isVoid(userId, startedAt) {
      const [validAfter] = await items.read(userId)
      return validAfter !== undefined && !(startedAt > Number(validAfter.value))
    },
    async set(userId) {
      const now = Date.now()
      await items.put(userId, { id: 'cutoff', value: String(now), expiresAt: now + RETENTION_MS })
    },
  }
}
