import { randomBytes, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { readJson, readObject } from '../../json.js'
import { formatUser } from '../../protocol/contact.js'
import type { Factor } from '../../protocol/factor.js'
import { remember } from '../../remember.js'
import { pickGiven } from '../../shape.js'
import { createNamespace, type ItemStore, type StoredItem } from '../store.js'
import type { BrowserName } from './browser-name.js'

/** A browser in which one user skips the second factor. Times are milliseconds since 1970. */
export interface Device extends BrowserName {
  /** Identifies the device in URLs. Not a secret. */
  readonly id: string
  /** Where the browser was when it was trusted, as the host describes it. */
  readonly location?: string
  readonly createdAt: number
  readonly lastUsedAt: number
  readonly expiresAt: number
}

/** The value of the cookie of a trusted device for one user. */
export interface Entry {
  readonly id: string
  readonly token: string
}

/** The user a device belongs to, and what its trust is bound to (R66). */
export interface DeviceOwner {
  readonly userId: string
  /** The user's factors as a digest. */
  readonly factors: string
  /** The text of `trustedDevices.fingerprint`. */
  readonly fingerprint: string
}

/** The result of looking up a browser's cookie entries. */
type Recognition =
  /** `entry` replaces the one in the cookie. It is absent when a concurrent request has already replaced it. */
  | { readonly outcome: 'recognized'; readonly device: string; readonly entry?: Entry }
  /** `copied`: the id is known but its token is outdated, so the cookie was copied. The device is removed. */
  | { readonly outcome: 'unknown'; readonly copied: boolean }

/** The trusted devices of all users. */
export interface Devices {
  /** Trusts a device. Removes the devices in `replaces`, and the least recently used ones beyond the limit. */
  trust(
    owner: DeviceOwner,
    browser: BrowserName & { readonly location?: string },
    replaces: readonly string[],
  ): Promise<Entry>
  /** Checks whether one of the entries is a trusted device of this user. A match gets a new token. */
  recognize(owner: DeviceOwner, entries: readonly Entry[]): Promise<Recognition>
  /** Whether a device is still trusted. */
  holds(owner: DeviceOwner, id: string): boolean | Promise<boolean>
  /** The user's devices, most recently used first. */
  list(owner: DeviceOwner): Promise<readonly Device[]>
  /** Removes a device. Returns whether it existed. */
  revoke(userId: string, id: string): Promise<boolean>
  /** Removes all devices of a user. Returns how many there were. */
  revokeAll(userId: string): Promise<number>
}

/** For an app without trusted devices: no user has one. */
export const NO_DEVICES: Pick<Devices, 'revokeAll'> = { revokeAll: async () => 0 }

/** How long the previous token is still accepted, for concurrent sign-ins in one browser. */
const OVERLAP_MS = 10_000

// The names of these members are part of the storage format.
const deviceRecord = z.object({
  token: z.string(),
  before: z.object({ token: z.string(), until: z.number() }).optional(),
  mark: z.string(),
  browser: z.string().optional(),
  system: z.string().optional(),
  place: z.string().optional(),
  createdAt: z.number(),
  lastUsedAt: z.number(),
})

type DeviceRecord = z.output<typeof deviceRecord>

interface StoredDevice {
  readonly item: StoredItem
  readonly record: DeviceRecord
}

/** Creates the trusted devices in a store. */
export function createDevices(
  store: ItemStore,
  {
    maxAgeMs,
    maxDevices,
    recheckMs = 0,
  }: { readonly maxAgeMs: number; readonly maxDevices: number; readonly recheckMs?: number | undefined },
): Devices {
  const kept = createNamespace(store, 'devices')
  const held = createHeldDevices(recheckMs)
  const items = {
    ...kept,
    remove: (userId: string, id: string) => held.removing(id, () => kept.remove(userId, id)),
  }

  /** The user's valid devices. Removes those that were bound to a different set of factors. */
  const validDevices = async (owner: DeviceOwner): Promise<StoredDevice[]> => {
    const { userId } = owner
    const valid: StoredDevice[] = []
    for (const item of await items.read(userId)) {
      const record = readRecord(item)
      if (record?.mark === bindingDigest(item.id, owner)) valid.push({ item, record })
      else await items.remove(userId, item.id)
    }
    return valid
  }

  const enforceCap = async (owner: DeviceOwner, newest: string) => {
    const others = (await validDevices(owner)).filter(({ item }) => item.id !== newest).sort(compareLastUse)
    for (const { item } of others.slice(maxDevices - 1)) await items.remove(owner.userId, item.id)
  }

  const rotateToken = async (
    { userId }: DeviceOwner,
    { item, record }: StoredDevice,
  ): Promise<Entry | undefined> => {
    const now = Date.now()
    const token = newToken()
    const next: DeviceRecord = {
      ...record,
      token: digestOf(token),
      before: { token: record.token, until: now + OVERLAP_MS },
      lastUsedAt: now,
    }
    const isSwapped = await items.swap(userId, item.id, item.value, JSON.stringify(next))
    return isSwapped ? { id: item.id, token } : undefined
  }

  const recognize = async (
    owner: DeviceOwner,
    entries: readonly Entry[],
    isRetry = false,
  ): Promise<Recognition> => {
    const devices = await validDevices(owner)
    let copied = false
    for (const { id, token } of entries) {
      const device = devices.find(({ item }) => item.id === id)
      if (!device) continue
      const { before } = device.record
      if (isToken(token, device.record.token)) {
        const entry = await rotateToken(owner, device)
        if (entry) return { outcome: 'recognized', device: id, entry }
        // A concurrent request has changed the token, or the device was revoked. Read it once more.
        return isRetry ? { outcome: 'unknown', copied } : recognize(owner, entries, true)
      }
      if (before && before.until > Date.now() && isToken(token, before.token)) {
        return { outcome: 'recognized', device: id }
      }
      copied = (await items.remove(owner.userId, id)) || copied
    }
    return { outcome: 'unknown', copied }
  }

  return {
    async trust(owner, browser, replaces) {
      const [id, token, now] = [newId(), newToken(), Date.now()]
      const { location, ...name } = browser
      const record: DeviceRecord = {
        token: digestOf(token),
        mark: bindingDigest(id, owner),
        ...name,
        ...(location && { place: location }),
        createdAt: now,
        lastUsedAt: now,
      }
      for (const old of replaces) await items.remove(owner.userId, old)
      await items.put(owner.userId, { id, value: JSON.stringify(record), expiresAt: now + maxAgeMs })
      await enforceCap(owner, id)
      return { id, token }
    },

    recognize: (owner, entries) => recognize(owner, entries),

    holds(owner, id) {
      return held.ask(id, owner, async () => {
        const item = (await items.read(owner.userId)).find((stored) => stored.id === id)
        return item && markIn(item) === bindingDigest(id, owner) ? item.expiresAt : undefined
      })
    },

    list: async (owner) => (await validDevices(owner)).sort(compareLastUse).map(createDevice),

    revoke: (userId, id) => items.remove(userId, id),

    async revokeAll(userId) {
      let count = 0
      for (const { id } of await items.read(userId)) if (await items.remove(userId, id)) count++
      return count
    },
  }
}

/** Remembers for `recheckMs` milliseconds which devices this process found trusted. It forgets a device that it removes itself. */
function createHeldDevices(recheckMs: number) {
  const held = new Map<string, { readonly owner: DeviceOwner; readonly until: number }>()
  let removals = 0
  const forget = (id: string) => {
    removals++
    held.delete(id)
  }
  const readAgain = async (id: string, owner: DeviceOwner, read: () => Promise<number | undefined>) => {
    const readAt = Date.now()
    const removalsBefore = removals
    const expiresAt = await read()
    held.delete(id)
    // An answer from before a removal says nothing of the time after it.
    if (expiresAt !== undefined && recheckMs > 0 && removals === removalsBefore) {
      remember(held, id, { owner, until: Math.min(readAt + recheckMs, expiresAt) })
    }
    return expiresAt !== undefined
  }
  return {
    /** Whether a device is trusted. `read` returns until when, as the store says, or `undefined` if it is not. */
    ask(id: string, owner: DeviceOwner, read: () => Promise<number | undefined>): boolean | Promise<boolean> {
      const known = held.get(id)
      const isKnown = known !== undefined && isSame(known.owner, owner) && known.until > Date.now()
      return isKnown || readAgain(id, owner, read)
    },
    async removing<Result>(id: string, remove: () => Promise<Result>): Promise<Result> {
      forget(id)
      try {
        return await remove()
      } finally {
        forget(id)
      }
    },
  }
}

function isSame(one: DeviceOwner, other: DeviceOwner): boolean {
  const { userId, factors, fingerprint } = one
  return userId === other.userId && factors === other.factors && fingerprint === other.fingerprint
}

// Contains the device's id, so that the digests of two devices do not show that they belong to one user.
function bindingDigest(id: string, { factors, fingerprint }: DeviceOwner): string {
  return digestOf(`${id} ${JSON.stringify([factors, fingerprint])}`)
}

function readRecord({ value }: StoredItem): DeviceRecord | undefined {
  return deviceRecord.safeParse(readJson(value)).data
}

/** The mark that the trust of a stored device is bound to. Each request of a trusted session asks, so nothing else is read. */
function markIn({ value }: StoredItem): unknown {
  return readObject(readJson(value)).mark
}

function createDevice({ item, record }: StoredDevice): Device {
  const { browser, system, place: location, createdAt, lastUsedAt } = record
  const { id, expiresAt } = item
  return { id, createdAt, lastUsedAt, expiresAt, ...pickGiven({ browser, system, location }) }
}

function compareLastUse(a: StoredDevice, b: StoredDevice): number {
  return b.record.lastUsedAt - a.record.lastUsedAt
}

/** A user's factors as one digest, regardless of their order and ids. */
export function digestFactors(factors: readonly Factor[]): string {
  return digestOf(
    JSON.stringify(factors.map(({ method, contact }) => `${method} ${formatUser(contact)}`).sort()),
  )
}

/** An id that cannot be guessed: 128 random bits. */
export const newId = (): string => randomBytes(16).toString('base64url')

/** A token that cannot be guessed: 256 random bits. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** Compares a token with a stored hash in constant time (R90). */
export function isToken(token: string, hash: string): boolean {
  const [given, stored] = [Buffer.from(digestOf(token)), Buffer.from(hash)]
  return given.length === stored.length && timingSafeEqual(given, stored)
}
