import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { answerNo, nothing } from '../../no-op.js'
import { canonicalUser } from '../../protocol/contact.js'
import type { Factor } from '../../protocol/factor.js'
import { canonicalBackupCode, isKeyMethod } from '../../protocol/methods.js'
import type { OpenReset } from '../../session/state.js'
import { createNamespace, type ItemStore } from '../store.js'
import { isToken, newId } from './devices.js'

const resetSchema = z.object({
  id: z.string(),
  kind: z.enum(['recovery', 'help_desk']),
  at: z.number(),
  /** The digests of the factors that ended. */
  ended: z.array(z.string()),
  /** Whether every factor ended that the service keeps, also one that is not known yet. */
  endsAll: z.literal(true).optional(),
  /** The digest of the bypass code, until it is used, and when it expires. */
  bypass: z.object({ digest: z.string(), until: z.number() }).optional(),
})

type Reset = Readonly<z.output<typeof resetSchema>>

/** The accounts that wait for a new factor. */
export interface Resets {
  /** The user's open reset. */
  find(userId: string): Promise<OpenReset | undefined>
  /** Ends factors until a new one is set up. `byStaff` opens the account meanwhile, and may end all. Returns the reset's id. */
  open(
    userId: string,
    kind: Reset['kind'],
    ended: readonly Factor[],
    byStaff?: BypassCode & { readonly endsAll: boolean },
  ): Promise<string>
  /** Uses the bypass code, if it is the right one and has not expired. Of several concurrent calls, one returns `true`. */
  redeem(userId: string, code: string): Promise<boolean>
  /** The user has set up a new factor. */
  close(userId: string): Promise<void>
}

// A reset stays open until a new factor is set up.
const RETENTION_MS = 10 * 365 * 24 * 60 * 60_000
const ID = 'reset'

/** For an app without recovery, in which no reset is open. */
export const NO_RESETS: Pick<Resets, 'find' | 'redeem'> = { find: nothing, redeem: answerNo }

/** Creates the resets in a store. */
export function createResets(store: ItemStore): Resets {
  // The name is part of the storage format.
  const items = createNamespace(store, 'reset')

  const read = async (userId: string) => {
    const item = (await items.read(userId)).find(({ id }) => id === ID)
    return item && { item, reset: resetSchema.parse(JSON.parse(item.value)) }
  }

  return {
    async open(userId, kind, ended, byStaff) {
      const now = Date.now()
      // The factors that an earlier reset ended stay ended.
      const before = (await read(userId))?.reset
      const reset: Reset = {
        id: newId(),
        kind,
        at: now,
        ended: [...new Set([...(before?.ended ?? []), ...ended.map(digestOfFactor)])],
        ...((before?.endsAll || byStaff?.endsAll) && { endsAll: true }),
        ...(byStaff && {
          bypass: { digest: digestOf(hashCode(userId, byStaff.code)), until: byStaff.expiresAt },
        }),
      }
      await items.put(userId, { id: ID, value: JSON.stringify(reset), expiresAt: now + RETENTION_MS })
      return reset.id
    },
    async redeem(userId, code) {
      const found = await read(userId)
      if (!found?.reset.bypass) return false
      const { bypass, ...rest } = found.reset
      if (Date.now() >= bypass.until || !isToken(hashCode(userId, code), bypass.digest)) return false
      return items.swap(userId, ID, found.item.value, JSON.stringify(rest))
    },
    async find(userId) {
      const found = await read(userId)
      if (!found) return undefined
      const { id, kind, ended, endsAll = false } = found.reset
      const isKept = ({ method }: Pick<Factor, 'method'>) => method === 'app' || isKeyMethod(method)
      const hasEnded: OpenReset['hasEnded'] = (factor) =>
        (endsAll && isKept(factor)) || ended.includes(digestOfFactor(factor))
      return { id, kind, endsAll, hasEnded }
    },
    async close(userId) {
      await items.remove(userId, ID)
    },
  }
}

// The user's id keeps equal codes of two users apart. With 80 random bits, a code is too long to guess from its digest.
function hashCode(userId: string, code: string): string {
  return `${canonicalBackupCode(code)} ${userId}`
}

function digestOfFactor({ method, contact }: Pick<Factor, 'method' | 'contact'>): string {
  // The service keeps an account's keys together, whichever contact names them.
  if (isKeyMethod(method)) return digestOf(method)
  return digestOf(`${method} ${canonicalUser(contact)}`)
}

/** A code with which a user whose account was reset signs in once. */
export interface BypassCode {
  /** The code: 16 letters and digits in four groups. Dashes and case are ignored when it is typed. */
  readonly code: string
  /** When it expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

const LIFE_MS = 60 * 60_000

// Crockford's base32: no I, L, O and U, so that a code can be read aloud.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 16

/** A new code of 80 random bits for one hour. */
export function newBypassCode(): BypassCode {
  // Each byte modulo 32 is uniform, as 256 is a multiple of 32.
  const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length])
  const code = letters.join('').replace(/.{4}(?=.)/g, '$&-')
  return { code, expiresAt: Date.now() + LIFE_MS }
}
