import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { readJson } from '../../json.js'
import { createNamespace, type ItemStore, type StoredItem } from '../store.js'
import { newId } from './devices.js'

const time = z.number().int().nonnegative()

// The names of these members are part of the storage format.
const recoverySchema = z.object({
  id: z.string(),
  requestedAt: time,
  waitMs: time,
  /** When the first and the second notice were sent. */
  noticesAt: z.array(time),
  /** How many contacts are notified. */
  contacts: z.number().int().nonnegative(),
  /** Which of them were handed the first notice, by their place in the list. Absent while it is being sent. */
  reached: z.array(z.number().int().nonnegative()).optional(),
  /** The languages of the request, for the notices that are sent without one. */
  locales: z.array(z.string()),
  /** It was canceled or completed, and is about to be removed. */
  ended: z.literal(true).optional(),
})

/** A pending recovery. Times are milliseconds since 1970. */
export type Recovery = Readonly<z.output<typeof recoverySchema>>

/** The pending recoveries of all users: at most one for each. */
export interface Recoveries {
  /** Starts a recovery unless there is one. Of several concurrent calls, one starts it, and all others get that one. */
  begin(
    userId: string,
    about: BeginRecovery,
  ): Promise<{ readonly recovery: Recovery; readonly isNew: boolean }>
  find(userId: string): Promise<Recovery | undefined>
  /** The contacts that are notified of it, as they were when it was requested, in the same order at each call. */
  contactsOf(userId: string, recovery: Recovery): Promise<readonly string[]>
  /** Takes the next notice that is due. Of several concurrent calls, one gets the recovery, and sends the notice. */
  claimNotice(userId: string): Promise<Recovery | undefined>
  /** Notes which contacts were handed the first notice, by their place in the list. Without it, none counts as reached. */
  setReached(userId: string, recovery: Recovery, reached: readonly number[]): Promise<void>
  /** Puts a notice back that could not be sent to any contact. */
  returnNotice(userId: string, claimed: Recovery): Promise<void>
  /** Ends the recovery. Returns `true` only for the call that ended it. */
  end(userId: string, recovery: Recovery): Promise<boolean>
  /** The users whose recovery has a notice that is due. */
  due(): Promise<readonly string[]>
}

/** The values that a recovery is started with. */
interface BeginRecovery {
  readonly waitMs: number
  /** Email addresses, and phone numbers in E.164 format. */
  readonly contacts: readonly string[]
  readonly locales: readonly string[]
}

/** How long a recovery can be completed after the waiting period. */
const COMPLETION_WINDOW_MS = 3 * 24 * 60 * 60_000

// Longer than any recovery lives: when one ends follows from its own times, so that a store may keep it for longer.
const RETENTION_MS = 40 * 24 * 60 * 60_000

/** A first notice within this time counts as sent at once. */
const PROMPT_MS = 60_000
const NOTICES = 2
const MAX_LOCALES = 5
const ID = 'recovery'
const EVERYBODY = 'all'

/** How many waiting periods a recovery waits if a contact was not notified. */
const UNREACHED_FACTOR = 2

/** How long the first notices may take. After that, it is unknown whether a contact without an outcome was reached. */
const SENDING_MS = 60_000

/** Whether the owner of a contact may not know of the recovery: the first notice was not sent, or it is unknown whether it was. */
export function hasUnreached({ contacts, reached, noticesAt: [first] }: Recovery): boolean {
  if (reached) return reached.length < contacts
  return first !== undefined && Date.now() - first >= SENDING_MS
}

function waitOf(recovery: Recovery): number {
  return hasUnreached(recovery) ? UNREACHED_FACTOR * recovery.waitMs : recovery.waitMs
}

/** When the recovery can be completed: after the wait of `waitOf`, and at least a quarter of it after the second notice. */
export function getReadyTime(recovery: Recovery): number {
  const [, second] = recovery.noticesAt
  const waitMs = waitOf(recovery)
  return Math.max(getStartTime(recovery) + waitMs, second === undefined ? 0 : second + waitMs / 4)
}

/** When the waiting period started: with the request, unless the first notice was late. */
function getStartTime({ requestedAt, noticesAt: [first = requestedAt] }: Recovery): number {
  return first - requestedAt < PROMPT_MS ? requestedAt : first
}

/** Whether all notices of a recovery were sent and its waiting time is over. */
export function isReady(recovery: Recovery): boolean {
  return recovery.noticesAt.length === NOTICES && Date.now() >= getReadyTime(recovery)
}

/** The time at which a recovery ends. */
export function getExpiry(recovery: Recovery): number {
  return getReadyTime(recovery) + COMPLETION_WINDOW_MS
}

/** Creates the recoveries in a store. */
export function createRecoveries(store: ItemStore): Recoveries {
  // The names are part of the storage format.
  const items = createNamespace(store, 'recovery')
  const contacts = createNamespace(store, 'recovery-contacts')
  const dueList = createNamespace(store, 'recovery-due')

  const read = async (userId: string) => {
    const item = (await items.read(userId)).find(({ id }) => id === ID)
    return item && { item, recovery: parse(item) }
  }

  const list = async (userId: string, recovery: Recovery) => {
    const value = JSON.stringify({ userId, at: noticeDueAt(recovery) })
    await dueList.put(EVERYBODY, { id: digestOf(userId), value, expiresAt: Date.now() + RETENTION_MS })
  }

  const forgetContacts = async (userId: string, { id }: Recovery) => {
    for (const item of await contacts.read(userId)) {
      if (item.id.startsWith(`${id}.`)) await contacts.remove(userId, item.id)
    }
  }

  const insert = async (userId: string, recovery: Recovery): Promise<Recovery | undefined> => {
    const value = JSON.stringify(recovery)
    if (await items.add(userId, { id: ID, value, expiresAt: Date.now() + RETENTION_MS })) return recovery
    const found = await read(userId)
    if (found?.recovery && isLive(found.recovery)) return found.recovery
    // One that has expired, or that ended while its process stopped. Only one of several swaps succeeds.
    return found && (await items.swap(userId, ID, found.item.value, value)) ? recovery : undefined
  }

  const find = async (userId: string) => {
    const recovery = (await read(userId))?.recovery
    return recovery && isLive(recovery) ? recovery : undefined
  }

  return {
    async begin(userId, { waitMs, contacts: theirs, locales }) {
      const recovery: Recovery = {
        id: newId(),
        requestedAt: Date.now(),
        waitMs,
        noticesAt: [],
        contacts: theirs.length,
        locales: locales.filter((tag) => tag.length <= 35).slice(0, MAX_LOCALES),
      }
      const pending = await find(userId)
      if (pending) return { recovery: pending, isNew: false }
      // The contacts come first, so that the process that sends the first notice finds all of them.
      const until = Date.now() + RETENTION_MS
      for (const [nth, value] of theirs.entries()) {
        await contacts.put(userId, { id: `${recovery.id}.${nth}`, value, expiresAt: until })
      }
      // A concurrent request may replace an expired one at the same moment; then it is found at the second look.
      const kept =
        (await insert(userId, recovery)) ?? (await find(userId)) ?? (await insert(userId, recovery))
      if (kept?.id === recovery.id) {
        await list(userId, recovery)
        return { recovery, isNew: true }
      }
      await forgetContacts(userId, recovery)
      if (!kept) throw new Error('The recovery could not be stored. Try again.')
      return { recovery: kept, isNew: false }
    },

    find,

    async contactsOf(userId, { id }) {
      const theirs = await contacts.read(userId)
      return theirs
        .filter((item) => item.id.startsWith(`${id}.`))
        .sort((one, other) => getPlace(one) - getPlace(other))
        .map(({ value }) => value)
    },

    async claimNotice(userId) {
      const found = await read(userId)
      if (!found?.recovery || !isLive(found.recovery)) {
        await dueList.remove(EVERYBODY, digestOf(userId))
        return undefined
      }
      const { item, recovery } = found
      if (noticeDueAt(recovery) > Date.now()) return undefined
      const claimed: Recovery = { ...recovery, noticesAt: [...recovery.noticesAt, Date.now()] }
      if (!(await items.swap(userId, ID, item.value, JSON.stringify(claimed)))) return undefined
      if (claimed.noticesAt.length < NOTICES) await list(userId, claimed)
      else await dueList.remove(EVERYBODY, digestOf(userId))
      return claimed
    },

    async setReached(userId, { id }, reached) {
      for (;;) {
        const found = await read(userId)
        if (found?.recovery?.id !== id || !isLive(found.recovery)) return
        const noted: Recovery = { ...found.recovery, reached: [...reached] }
        // A notice that is claimed at the same moment changes the value; then it is read again.
        if (!(await items.swap(userId, ID, found.item.value, JSON.stringify(noted)))) continue
        // The second notice may be due earlier now.
        if (noted.noticesAt.length < NOTICES) await list(userId, noted)
        return
      }
    },

    async returnNotice(userId, claimed) {
      const before = { ...claimed, noticesAt: claimed.noticesAt.slice(0, -1) }
      const isBack = await items.swap(userId, ID, JSON.stringify(claimed), JSON.stringify(before))
      if (isBack) await list(userId, before)
    },

    async end(userId, { id }) {
      for (;;) {
        const found = await read(userId)
        if (found?.recovery?.id !== id || !isLive(found.recovery)) return false
        const ended = JSON.stringify({ ...found.recovery, ended: true })
        // A notice that is claimed at the same moment changes the value; then it is read again.
        if (!(await items.swap(userId, ID, found.item.value, ended))) continue
        // A recovery that is requested between these two steps may be removed too; its user then requests it again.
        await items.remove(userId, ID)
        await dueList.remove(EVERYBODY, digestOf(userId))
        await forgetContacts(userId, found.recovery)
        return true
      }
    },

    async due() {
      const now = Date.now()
      const listed = (await dueList.read(EVERYBODY)).flatMap(({ value }) => {
        const entry = dueSchema.safeParse(readJson(value)).data
        return entry ? [entry] : []
      })
      return listed.filter(({ at }) => at <= now).map(({ userId }) => userId)
    },
  }
}

const dueSchema = z.object({ userId: z.string(), at: z.number() })

/** The place of a contact in the list, which is the end of its id. */
function getPlace({ id }: StoredItem): number {
  return Number(id.slice(id.lastIndexOf('.') + 1))
}

/** When the next notice of a recovery is due; never, if both were sent. */
function noticeDueAt(recovery: Recovery): number {
  const sent = recovery.noticesAt.length
  if (sent === 0) return recovery.requestedAt
  return sent < NOTICES ? getStartTime(recovery) + waitOf(recovery) / 2 : Number.POSITIVE_INFINITY
}

function isLive(recovery: Recovery): boolean {
  return recovery.ended !== true && Date.now() < getExpiry(recovery)
}

function parse({ value }: StoredItem): Recovery | undefined {
  return recoverySchema.safeParse(readJson(value)).data
}
