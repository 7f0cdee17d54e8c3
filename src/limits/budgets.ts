import { DAY_MS } from '../duration.js'
import type { Settings } from '../settings.js'
import type { AccountLimits, Attempts } from './attempts.js'
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
