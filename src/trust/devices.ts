import * as z from 'zod'
import { digestOf } from '../digest.js'
import { formatUser } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'
import { namespaced } from '../stores/namespaced.js'
import type { ItemStore, StoredItem } from '../stores/store.js'
import type { BrowserName } from './browser-name.js'
import { isToken, newId, newToken } from './tokens.js'

/** A browser that skips the question for one user, as that user sees it. Times are milliseconds since 1970. */
export interface Device extends BrowserName {
  /** Names it in addresses; no secret. */
  readonly id: string
  /** Where it was trusted, in the host's words. */
  readonly place?: string
  readonly createdAt: number
  readonly lastUsedAt: number
  readonly expiresAt: number
}

/** What a browser keeps in its cookie for one user. */
export interface Entry {
  readonly id: string
  readonly token: string
}

/** Whose device it is, and what its trust is bound to. */
export interface DeviceOwner {
  readonly userId: string
  readonly binding: string
}

/** What became of a browser's entries. */
export type Recognition =
  /** `entry` takes the place of the one that was shown; without it, a request at the same moment has brought it. */
  | { readonly outcome: 'recognized'; readonly device: string; readonly entry?: Entry }
  /** `copied`: the name was right and the secret was not, so one of two copies is used up. The trust is over. */
  | { readonly outcome: 'unknown'; readonly copied: boolean }

/** The trusted devices of all users. */
export interface Devices {
  /** Trusts a browser from now on. Devices named in `replaces`, and the longest unused beyond the cap, are forgotten. */
  trust(
    owner: DeviceOwner,
    browser: BrowserName & { readonly place?: string },
    replaces: readonly string[],
  ): Promise<Entry>
  /** Whether one of the entries is a trusted device of this user. Its token is changed by it. */
  recognize(owner: DeviceOwner, entries: readonly Entry[]): Promise<Recognition>
  /** Whether a device is trusted still. */
  holds(owner: DeviceOwner, id: string): Promise<boolean>
  /** The user's devices, the last used first. */
  list(owner: DeviceOwner): Promise<readonly Device[]>
  /** Forgets a device; whether there was one. */
  revoke(userId: string, id: string): Promise<boolean>
  /** Forgets all of them; how many there were. */
  revokeAll(userId: string): Promise<number>
}

/** How long the token before the present one is accepted, for two sign-ins of one browser at the same moment. */
const OVERLAP_MS = 10_000

const kept = z.object({
  token: z.string(),
  before: z.object({ token: z.string(), until: z.number() }).optional(),
  mark: z.string(),
  browser: z.string().optional(),
  system: z.string().optional(),
  place: z.string().optional(),
  createdAt: z.number(),
  lastUsedAt: z.number(),
})

type Kept = z.output<typeof kept>

interface Found {
  readonly item: StoredItem
  readonly kept: Kept
}

/** Trusted devices in that store. */
export function devicesIn(
  store: ItemStore,
  { maxAgeMs, maxDevices }: { readonly maxAgeMs: number; readonly maxDevices: number },
): Devices {
  const shelf = namespaced(store, 'devices')

  /** The devices that count, and only they: what was bound to something else is forgotten. */
  const live = async ({ userId, binding }: DeviceOwner): Promise<Found[]> => {
    const found: Found[] = []
    for (const item of await shelf.read(userId)) {
      const one = readKept(item)
      if (one?.mark === markOf(item.id, binding)) found.push({ item, kept: one })
      else await shelf.remove(userId, item.id)
    }
    return found
  }

  const enforceCap = async (owner: DeviceOwner, newest: string) => {
    const others = (await live(owner)).filter(({ item }) => item.id !== newest).sort(byLastUse)
    for (const { item } of others.slice(maxDevices - 1)) await shelf.remove(owner.userId, item.id)
  }

  const rotate = async ({ userId }: DeviceOwner, { item, kept: old }: Found): Promise<Entry | undefined> => {
    const now = Date.now()
    const token = newToken()
    const next: Kept = {
      ...old,
      token: digestOf(token),
      before: { token: old.token, until: now + OVERLAP_MS },
      lastUsedAt: now,
    }
    const isOurs = await shelf.swap(userId, item.id, item.value, JSON.stringify(next))
    return isOurs ? { id: item.id, token } : undefined
  }

  const recognize = async (
    owner: DeviceOwner,
    entries: readonly Entry[],
    isSecondLook = false,
  ): Promise<Recognition> => {
    const found = await live(owner)
    let copied = false
    for (const { id, token } of entries) {
      const device = found.find(({ item }) => item.id === id)
      if (!device) continue
      const { before } = device.kept
      if (isToken(token, device.kept.token)) {
        const entry = await rotate(owner, device)
        if (entry) return { outcome: 'recognized', device: id, entry }
        // Another request of this browser was faster, or the device was revoked: it is looked at once more.
        return isSecondLook ? { outcome: 'unknown', copied } : recognize(owner, entries, true)
      }
      if (before && before.until > Date.now() && isToken(token, before.token)) {
        return { outcome: 'recognized', device: id }
      }
      copied = (await shelf.remove(owner.userId, id)) || copied
    }
    return { outcome: 'unknown', copied }
  }

  return {
    async trust(owner, browser, replaces) {
      const [id, token, now] = [newId(), newToken(), Date.now()]
      const value: Kept = {
        token: digestOf(token),
        mark: markOf(id, owner.binding),
        ...browser,
        createdAt: now,
        lastUsedAt: now,
      }
      for (const old of replaces) await shelf.remove(owner.userId, old)
      await shelf.put(owner.userId, { id, value: JSON.stringify(value), expiresAt: now + maxAgeMs })
      await enforceCap(owner, id)
      return { id, token }
    },

    recognize: (owner, entries) => recognize(owner, entries),

    holds: async (owner, id) => (await live(owner)).some(({ item }) => item.id === id),

    list: async (owner) => (await live(owner)).sort(byLastUse).map(asDevice),

    revoke: (userId, id) => shelf.remove(userId, id),

    async revokeAll(userId) {
      let count = 0
      for (const { id } of await shelf.read(userId)) if (await shelf.remove(userId, id)) count++
      return count
    },
  }
}

// With the device's own name in it, so that two devices of one user do not show by their marks that they are.
function markOf(id: string, binding: string): string {
  return digestOf(`${id} ${binding}`)
}

function readKept({ value }: StoredItem): Kept | undefined {
  try {
    return kept.safeParse(JSON.parse(value)).data
  } catch {
    return undefined
  }
}

function asDevice({ item, kept: { browser, system, place, createdAt, lastUsedAt } }: Found): Device {
  return {
    id: item.id,
    ...(browser && { browser }),
    ...(system && { system }),
    ...(place && { place }),
    createdAt,
    lastUsedAt,
    expiresAt: item.expiresAt,
  }
}

function byLastUse(one: Found, other: Found): number {
  return other.kept.lastUsedAt - one.kept.lastUsedAt
}

/**
 * What a trust is bound to, as text: the user's factors, whatever their order and names, and what the host adds, such
 * as a number that goes up with every new password. When any of it changes, the trust is over (R66).
 */
export function bindingOf(factors: readonly Factor[], fromHost: string): string {
  const proofs = factors.map(({ method, contact }) => `${method} ${formatUser(contact)}`).sort()
  return JSON.stringify([proofs, fromHost])
}
