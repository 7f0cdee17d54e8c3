import * as z from 'zod'
import { digestOf } from '../digest.js'
import { namespaced } from '../stores/namespaced.js'
import type { ItemStore } from '../stores/store.js'
import { isToken, newId, newToken } from './tokens.js'

/** What a link is about. */
const subject = z.object({ userId: z.string(), at: z.number() })

/** Whose account a link ends everything in, and when the notice was written that it stood in. */
export type NotMeSubject = Readonly<z.output<typeof subject>>

/** Links that stand in notices; each works once. Kept by the hash of their secret, so that the store gives none away. */
export interface NotMeLinks {
  /** The token of a new link. */
  issue(about: NotMeSubject): Promise<string>
  /** What a token is for; nothing when it was used, is too old, or never was one. */
  look(token: string): Promise<NotMeSubject | undefined>
  /** Uses it up: of several at once, one is told what it is for. */
  take(token: string): Promise<NotMeSubject | undefined>
}

/** A notice is read late sometimes. */
const LIFE_MS = 7 * 24 * 60 * 60_000

const TOKEN = /^([\w-]{22})\.([\w-]{43})$/

/** Links in that store. */
export function notMeLinksIn(store: ItemStore): NotMeLinks {
  const shelf = namespaced(store, 'undo')

  const find = async (token: string) => {
    const [, id, secret] = TOKEN.exec(token) ?? []
    if (!id || !secret) return undefined
    const item = (await shelf.read(id)).find((one) => isToken(secret, one.id))
    return item && { id, item, about: subject.safeParse(JSON.parse(item.value)).data }
  }

  return {
    async issue(about) {
      const [id, secret] = [newId(), newToken()]
      const expiresAt = Date.now() + LIFE_MS
      await shelf.put(id, { id: digestOf(secret), value: JSON.stringify(about), expiresAt })
      return `${id}.${secret}`
    },
    look: async (token) => (await find(token))?.about,
    async take(token) {
      const found = await find(token)
      return found && (await shelf.remove(found.id, found.item.id)) ? found.about : undefined
    },
  }
}
