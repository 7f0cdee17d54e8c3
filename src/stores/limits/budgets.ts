import { digestOf } from '../../digest.js'
import type { Settings } from '../../options/settings.js'
import { type Contact, canonicalUser } from '../../protocol/contact.js'
import { DAY_MS } from '../../time.js'
import {
  type AccountLimits,
  accountLimits,
  BACKUP_CODES,
  type BackupCodesLeft,
  BINDING_WINDOW_MS,
  backupCodesLeft,
  requireUsable,
  UNCOUNTED,
} from './attempts.js'
import { type Counters, counterName, type StepStore } from './step.js'

const TEN_MINUTES_MS = 10 * 60_000

/** A message that is about to be sent. */
export interface Message {
  readonly userId: string
  /** The pending login, or the recovery, that the message is for. */
  readonly transaction: string
  /** Identifies the factor within it; the wait before a resend applies to it. */
  readonly slot: string
  /** The factor that the message has a code for: a lock of the account, or a disabled factor, refuses it. */
  readonly binding?: string | undefined
}

/** Whether a message may be sent. */
export type SendPermit =
  | {
      readonly ok: true
      readonly resendInSeconds: number
      /** How many attempts a challenge of the transaction has left. */
      readonly attemptsLeft: AccountLimits['attemptsLeft']
    }
  | {
      readonly ok: false
      readonly why: 'too_soon' | 'too_many' | 'locked' | 'disabled'
      /** 0 when waiting does not help. */
      readonly retryAfterSeconds: number
    }

/** Limits messages to an account, across all channels (R43). */
export interface MessageBudget {
  /** Counts a message before it is sent, or says how long to wait. */
  consume(message: Message): Promise<SendPermit>
  /** Takes a message back that was certainly not sent. */
  refund(message: Message): Promise<void>
}

const waitOf = (slot: string) => `wait ${counterName(slot)}`
const nameRound = (slot: string) => `round ${counterName(slot)}`

/** Counts messages in `store`. */
export function createMessageBudget(store: StepStore, { limits }: Settings): MessageBudget {
  const { sendsPerTenMinutes, sendsPerDay, resendWaitsMs } = limits
  const budgets = [
    { counter: 'sends-10m', below: sendsPerTenMinutes, windowMs: TEN_MINUTES_MS },
    { counter: 'sends-day', below: sendsPerDay, windowMs: DAY_MS },
  ]

  return {
    async consume({ userId, transaction, slot, binding }) {
      const [wait, round] = [waitOf(slot), nameRound(slot)]
      const { isPermitted, counters } = await store.run(userId, [
        {
          transaction,
          requires: [{ counter: wait, below: 1 }],
          changes: [
            { counter: wait, set: 1, livesMs: resendWaitsMs, nth: round },
            { counter: round, add: 1, livesMs: [DAY_MS] },
          ],
          undo: [
            { counter: wait, set: 0 },
            { counter: round, add: -1 },
          ],
        },
        {
          requires: [
            ...(binding === undefined ? [] : requireUsable(binding, limits)),
            ...budgets.map(({ counter, below }) => ({ counter, below })),
          ],
          changes: budgets.map(({ counter, windowMs }) => ({ counter, add: 1, livesMs: [windowMs] })),
        },
      ])
      const [ofTransaction, account] = counters as [Counters, Counters]
      const waitMs = ofTransaction.msLeft(wait)
      const { attemptsLeft, isDisabled, lockedForSeconds } = accountLimits(account, [ofTransaction], limits)
      if (isPermitted) return { ok: true, resendInSeconds: Math.ceil(waitMs / 1000), attemptsLeft }
      if (binding !== undefined) {
        if (isDisabled(binding)) return { ok: false, why: 'disabled', retryAfterSeconds: 0 }
        if (lockedForSeconds > 0) return { ok: false, why: 'locked', retryAfterSeconds: lockedForSeconds }
      }
      if (waitMs > 0) return refuseMessage('too_soon', waitMs)
      const spent = budgets.filter(({ counter, below }) => account.count(counter) >= below)
      return refuseMessage('too_many', Math.max(0, ...spent.map(({ counter }) => account.msLeft(counter))))
    },

    async refund({ userId, transaction, slot }) {
      await store.run(userId, [
        {
          transaction,
          changes: [
            { counter: waitOf(slot), set: 0 },
            { counter: nameRound(slot), add: -1 },
          ],
        },
        { changes: budgets.map(({ counter }) => ({ counter, add: -1 })) },
      ])
    },
  }
}

/** The refusal of a message, with the wait in whole seconds. */
function refuseMessage(why: 'too_soon' | 'too_many', ms: number): SendPermit {
  return { ok: false, why, retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)) }
}

/** In milliseconds. How long sent backup codes are remembered. */
const REMEMBERED_MS = 3 * 365 * DAY_MS

/** Remembers which users were sent backup codes, for services that cannot say who has any. */
export interface SentBackupCodes {
  /** Remembers how many codes a user has now, such as after new ones were sent. */
  remember(userId: string, count: number | undefined): Promise<void>
  /** A code was used. Returns how many are left. */
  used(userId: string): Promise<BackupCodesLeft>
}

/** Remembers sent backup codes in `store`. */
export function createSentBackupCodes(store: StepStore): SentBackupCodes {
  return {
    async remember(userId, count = UNCOUNTED) {
      await store.run(userId, [
        { changes: [{ counter: BACKUP_CODES, set: count + 1, livesMs: [REMEMBERED_MS] }] },
      ])
    },
    async used(userId) {
      const changes = [{ counter: BACKUP_CODES, add: -1, when: BACKUP_CODES, atLeast: 2 }]
      return backupCodesLeft((await store.run(userId, [{ changes }])).counters[0])
    },
  }
}

/** Remembers in `store` which user enrolled an app under a contact, so that no other user's app replaces it (R98). */
export function createAppOwners(store: StepStore) {
  const owners = createLastIds(store, 'app-owner', BINDING_WINDOW_MS)
  const digestContact = (contact: Contact) => digestOf(canonicalUser(contact))
  return {
    /** Whether another user enrolled an app under the contact. */
    isAnother: (contact: Contact, userId: string) => owners.isAnother(digestContact(contact), userId),
    remember: (contact: Contact, userId: string) => owners.remember(digestContact(contact), userId),
    forget: (contact: Contact) => owners.forget(digestContact(contact)),
  }
}

/** Remembers the last enrollment of an app that a user began, in whichever session: the service keeps one pending secret only. */
export function createLastEnrollments(store: StepStore) {
  return createLastIds(store, 'app-enrollment', DAY_MS)
}

/** The last id of an account. */
function createLastIds(store: StepStore, name: string, lifeMs: number) {
  const put = async (account: string, set: number) => {
    await store.run(account, [{ transaction: name, changes: [{ counter: name, set, livesMs: [lifeMs] }] }])
  }
  return {
    /** Whether it is known, and another one than `id`. */
    async isAnother(account: string, id: string): Promise<boolean> {
      const [, last] = await store.read(account, [name])
      const number = last?.count(name) ?? 0
      return number > 0 && number !== digestId(id)
    },
    remember: (account: string, id: string) => put(account, digestId(id)),
    forget: (account: string) => put(account, 0),
  }
}

/** A counter holds a number only: 28 bits of the digest of an id, never 0. */
function digestId(id: string): number {
  return (Buffer.from(digestOf(id), 'base64url').readUInt32BE() >>> 4) + 1
}
