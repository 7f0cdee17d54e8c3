import type * as z from 'zod'
import { digestOf } from '../../digest.js'
import { createNamespace, type ItemStore } from '../store.js'
import { isToken, newId, newToken } from './devices.js'

/** Links that can be used once, each about one subject. */
export interface Links<Subject> {
  /** Creates a link and returns its token. `expiresAt`: milliseconds since 1970. */
  issue(subject: Subject, expiresAt: number): Promise<string>
  /** Finds the subject of a token. `undefined` if the token was used, has expired, or was never issued. */
  find(token: string): Promise<Subject | undefined>
  /** Uses the token. Of several concurrent calls, one gets the subject; the others get `undefined`. */
  redeem(token: string): Promise<Subject | undefined>
}

const TOKEN = /^([\w-]{22})\.([\w-]{43})$/

/** Links in `store`, which holds only a hash of each secret. The name is part of the storage format. */
export function createLinks<Subject>(
  store: ItemStore,
  name: string,
  subjects: z.ZodType<Subject>,
): Links<Subject> {
  const items = createNamespace(store, name)
  const lookUp = async (token: string) => {
    const [, id, secret] = TOKEN.exec(token) ?? []
    if (!id || !secret) return undefined
    const item = (await items.read(id)).find((stored) => isToken(secret, stored.id))
    return item && { id, item, subject: subjects.safeParse(JSON.parse(item.value)).data }
  }
  return {
    async issue(subject, expiresAt) {
      const [id, secret] = [newId(), newToken()]
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
