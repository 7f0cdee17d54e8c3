import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { type ItemStore, namespaced } from '../store.js'
import { isToken, newId, newToken } from './devices.js'

const subjectSchema = z.object({ userId: z.string(), at: z.number() })

/** The user whose sessions and trusted devices a link ends, and when its notice was written. */
export type NotMeSubject = Readonly<z.output<typeof subjectSchema>>

/** The "this wasn't me" links in account notices. Each works once. The store holds only a hash of each secret. */
export interface NotMeLinks {
  /** Creates a link and returns its token. */
  issue(subject: NotMeSubject): Promise<string>
  /** Finds the subject of a token. `undefined` if the token was used, has expired, or was never issued. */
  find(token: string): Promise<NotMeSubject | undefined>
  /** Uses the token. Of several concurrent calls, one gets the subject; the others get `undefined`. */
  redeem(token: string): Promise<NotMeSubject | undefined>
}

// Users may read a notice days later.
const LIFE_MS = 7 * 24 * 60 * 60_000

const TOKEN = /^([\w-]{22})\.([\w-]{43})$/

/** Links in `store`. */
export function notMeLinksIn(store: ItemStore): NotMeLinks {
  // The name is part of the storage format.
  const items = namespaced(store, 'undo')

  const lookUp = async (token: string) => {
    const [, id, secret] = TOKEN.exec(token) ?? []
    if (!id || !secret) return undefined
    const item = (await items.read(id)).find((one) => isToken(secret, one.id))
    return item && { id, item, subject: subjectSchema.safeParse(JSON.parse(item.value)).data }
  }

  return {
    async issue(subject) {
      const [id, secret] = [newId(), newToken()]
      const expiresAt = Date.now() + LIFE_MS
      await items.put(id, { id: digestOf(secret), value: JSON.stringify(subject), expiresAt })
      return `${id}.${secret}`
    },
    find: async (token) => (await lookUp(token))?.subject,
    async redeem(token) {
      const found = await lookUp(token)
      return found && (await items.remove(found.id, found.item.id)) ? found.subject : undefined
    },
  }
}

/** The time before which a user's sessions, pending logins and trusted devices are void. */
export interface SessionsValidAfter {
  /** Whether something that started at `startedAt` (milliseconds since 1970) is void. */
  isVoid(userId: string, startedAt: number): Promise<boolean>
  /** Voids everything that started before now. */
  set(userId: string): Promise<void>
}

// Browsers keep no cookie for longer (RFC 6265bis §5.5), so no older session can come back afterwards.
const RETENTION_MS = 400 * 24 * 60 * 60_000

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
