import { digestOf } from '../digest.js'
import { type Contact, canonicalUser } from '../protocol/contact.js'
import type { Settings } from '../settings.js'
import { DAY_MS } from '../time.js'
import { type AccountLimits, type Attempts, BINDING_WINDOW_MS } from './attempts.js'
import type { Counter, Counters } from './counter.js'

export const TEN_MINUTES_MS = 10 * 60_000

/** A message that is about to be sent. */
export interface Message {
  readonly userId: string
  /** Identifies the factor within a pending login; the wait before a resend applies to it. */
  readonly slot: string
  /**
   * The factor that the message has a code for, as `factorBinding` names it. If it is given, a lock of the account refuses the
   * message, and so does a factor that is disabled.
   */
  readonly binding?: string | undefined
}

/** Whether a message may be sent. */
export type SendPermit =
  | { readonly ok: true; readonly resendInSeconds: number }
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

/** Counts messages in `store`. */
export function messageBudgetIn(
  store: Counters,
  attempts: Pick<Attempts, 'limitsOf'>,
  { limits }: Settings,
): MessageBudget {
  const { sendsPerTenMinutes, sendsPerDay, resendWaitsMs } = limits
  const longestWaitMs = Math.max(...resendWaitsMs)
  const waits = store('wait', longestWaitMs)
  const rounds = store('round', DAY_MS)
  const budgets: readonly (readonly [Counter, number])[] = [
    [store('sends-10m', TEN_MINUTES_MS), sendsPerTenMinutes],
    [store('sends-day', DAY_MS), sendsPerDay],
  ]

  return {
    async consume({ userId, slot, binding }) {
      const limited = binding !== undefined && refusalBy(await attempts.limitsOf(userId, [binding]))
      if (limited) return limited
      const waiting = await waits.add(slot, 1)
      if (waiting.count > 1) return refuseMessage('too_soon', waiting.msLeft)
      const spent: Counter[] = []
      for (const [budget, most] of budgets) {
        const { count, msLeft } = await budget.add(userId, 1)
        spent.push(budget)
        if (count > most) {
          await Promise.all([waits.remove(slot), ...spent.map((one) => one.add(userId, -1))])
          return refuseMessage('too_many', msLeft)
        }
      }
      const round = (await rounds.add(slot, 1)).count
      const waitMs = resendWaitsMs[Math.min(round, resendWaitsMs.length) - 1] ?? 30_000
      await waits.set(slot, 1, waitMs)
      return { ok: true, resendInSeconds: Math.ceil(waitMs / 1000) }
    },

    async refund({ userId, slot }) {
      await Promise.all([
        waits.remove(slot),
        rounds.add(slot, -1),
        ...budgets.map(([budget]) => budget.add(userId, -1)),
      ])
    },
  }
}

function refusalBy({ lockedForSeconds, disabled }: AccountLimits): SendPermit | undefined {
  if (disabled.size > 0) return { ok: false, why: 'disabled', retryAfterSeconds: 0 }
  return lockedForSeconds > 0 ? { ok: false, why: 'locked', retryAfterSeconds: lockedForSeconds } : undefined
}

/** The refusal of a message, with the wait in whole seconds. */
export function refuseMessage(why: 'too_soon' | 'too_many' | 'locked', ms: number): SendPermit {
  return { ok: false, why, retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)) }
}

/** How long sent backup codes are remembered. A process forgets them when it ends, and its timers reach 24 days. */
const REMEMBERED_MS = { shared: 3 * 365 * DAY_MS, memory: 24 * DAY_MS }

/** Stands for codes whose number the service did not say. No service sends as many. */
const UNCOUNTED = 1_000_000

/** Remembers which users were sent backup codes, for services that cannot say who has any. */
export interface SentBackupCodes {
  /** Remembers how many codes a user has now, such as after new ones were sent. */
  remember(userId: string, count: number | undefined): Promise<void>
  /** A code was used. */
  used(userId: string): Promise<void>
  /** How many are left, `some` if the number is unknown, `undefined` if it is unknown whether the user has any. */
  left(userId: string): Promise<number | 'some' | undefined>
}

/** Remembers sent backup codes in `store`. */
export function sentBackupCodesIn(store: Counters, kept: keyof typeof REMEMBERED_MS): SentBackupCodes {
  const rememberedMs = REMEMBERED_MS[kept]
  const codes = store('backup-codes', rememberedMs)
  return {
    remember: (userId, count = UNCOUNTED) => codes.set(userId, count, rememberedMs),
    async used(userId) {
      const { count, msLeft } = await codes.read(userId)
      if (msLeft > 0 && count > 0) await codes.add(userId, -1)
    },
    async left(userId) {
      const { count, msLeft } = await codes.read(userId)
      if (msLeft <= 0) return undefined
      return count > UNCOUNTED / 2 ? 'some' : count
    },
  }
}

/** Wrong codes in a day after which the user is warned that an attacker may know their password (R34). */
const NOTIFY_AT = 5

/** Decides when to notify a user of wrong codes. */
export interface RepeatedFailures {
  /** Counts a wrong code after a correct password. Returns `true` when the user should be notified. */
  failed(userId: string): Promise<boolean>
}

/** Counts wrong codes in `store`. */
export function repeatedFailuresIn(store: Counters): RepeatedFailures {
  const wrongCodes = store('wrong-after-password', DAY_MS)
  return { failed: async (userId) => (await wrongCodes.add(userId, 1)).count === NOTIFY_AT }
}

/**
 * Which user enrolled an authenticator app under a contact. To a service that knows users by nothing else, two users with one
 * contact are one account, and the second app would replace the first (R98).
 */
export interface AppOwners {
  /** Whether another user enrolled an app under the contact. */
  isAnother(contact: Contact, userId: string): Promise<boolean>
  /** Remembers who enrolled an app under the contact. */
  remember(contact: Contact, userId: string): Promise<void>
  /** Forgets who enrolled an app under the contact. */
  forget(contact: Contact): Promise<void>
}

/** Remembers the owners in `store`, by digests. */
export function appOwnersIn(store: Counters): AppOwners {
  const owners = store('app-owner', BINDING_WINDOW_MS)
  const key = (contact: Contact) => digestOf(canonicalUser(contact))
  return {
    async isAnother(contact, userId) {
      const { count } = await owners.read(key(contact))
      return count > 0 && count !== numberOf(userId)
    },
    remember: (contact, userId) => owners.set(key(contact), numberOf(userId), BINDING_WINDOW_MS),
    forget: (contact) => owners.remove(key(contact)),
  }
}

/** A counter holds a number only: 28 bits of the user's digest, never 0. */
function numberOf(userId: string): number {
  return (Buffer.from(digestOf(userId), 'base64url').readUInt32BE() >>> 4) + 1
}
