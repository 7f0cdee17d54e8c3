import * as z from 'zod'
import { digestOf } from '../digest.js'
import { namespaced } from '../stores/namespaced.js'
import type { ItemStore } from '../stores/store.js'
import { isToken, newId, newToken } from '../trust/tokens.js'

const subjectSchema = z.object({ userId: z.string(), recovery: z.string() })

/** The recovery that a link cancels. */
export type CancelSubject = Readonly<z.output<typeof subjectSchema>>

/** The links in notices that cancel a recovery, one for each message. The store holds only a hash of each secret. */
export interface CancelLinks {
  /** Creates a link and returns its token. */
  issue(subject: CancelSubject, expiresAt: number): Promise<string>
  /** Finds what a token cancels. `undefined` if the token has expired or was never issued. */
  find(token: string): Promise<CancelSubject | undefined>
}

const TOKEN = /^([\w-]{22})\.([\w-]{43})$/

/** Links in `store`. */
export function cancelLinksIn(store: ItemStore): CancelLinks {
  // The name is part of the storage format.
  const items = namespaced(store, 'recovery-link')
  return {
    async issue(subject, expiresAt) {
      const [id, secret] = [newId(), newToken()]
      await items.put(id, { id: digestOf(secret), value: JSON.stringify(subject), expiresAt })
      return `${id}.${secret}`
    },
    async find(token) {
      const [, id, secret] = TOKEN.exec(token) ?? []
      if (!id || !secret) return undefined
      const item = (await items.read(id)).find((one) => isToken(secret, one.id))
      return item && subjectSchema.safeParse(JSON.parse(item.value)).data
    },
  }
}
