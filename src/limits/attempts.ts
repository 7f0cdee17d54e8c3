import type { Settings } from '../settings.js'
import { DAY_MS } from '../time.js'
import { CHALLENGE_WINDOW_MS, type Counters, failureWindowIn } from './counter.js'

/** In milliseconds. Each lock within this time of the previous one lasts twice as long. */
export const LOCK_COUNT_WINDOW_MS = 2 * DAY_MS

/** In milliseconds. Failures of a factor are counted since it was bound; no store keeps a count for ever, so ten years. */
export const BINDING_WINDOW_MS = 3_650 * DAY_MS

/** The user who enters a code, and the challenge it is for. */
export interface Attempt {
  readonly userId: string
  /** The id of the challenge, or its substitute if no code was sent. */
  readonly challenge: string
  /** The factor that the code belongs to, as `factorBinding` names it. Absent while a new app is confirmed. */
  readonly binding?: string | undefined
}

/** An attempt that was counted, and whose code may be evaluated. */
export interface CountedAttempt extends Attempt {
  /** Its number on the challenge. */
  readonly nth: number
  /** Identifies it among the failures of the account. */
  readonly entry: string
  /** Its number among the unforgiven failures of the factor. */
  readonly onBinding: number
}

/** Whether a code may be evaluated. */
export type AttemptPermit =
  | { readonly ok: true; readonly attemptsLeft: number; readonly attempt: CountedAttempt }
  | { readonly ok: false; readonly why: 'exhausted' | 'locked'; readonly retryAfterSeconds: number }
  | { readonly ok: false; readonly why: 'disabled' }

/** What follows from a wrong code. */
interface Failure {
  /** How long the account is locked because of it; 0 if it is not. */
  readonly lockedForSeconds: number
  /** Whether it disabled its factor. */
  readonly disabled: boolean
}

/** What limits an account now. */
export interface AccountLimits {
  /** Seconds until the account's lock ends; 0 when it is not locked. */
  readonly lockedForSeconds: number
  /** The factors that are disabled, of those that were asked about. */
  readonly disabled: ReadonlySet<string>
}

/**
 * Limits wrong codes: per challenge (R22), per account across all factors, sessions and purposes (R23), and per factor
 * since it was bound (R96).
 */
export interface Attempts {
  /** The lock of an account, and which of these factors are disabled. */
  limitsOf(userId: string, bindings: readonly string[]): Promise<AccountLimits>
  /** How many attempts a challenge has left. */
  left(challenge: string): Promise<number>
  /** Counts an attempt in all limits before the code is evaluated, or says which limit is reached. */
  consume(attempt: Attempt): Promise<AttemptPermit>
  /** Takes an attempt back whose code was not evaluated, because the service failed or refused (R77). */
  refund(attempt: CountedAttempt): Promise<void>
  /** Records a wrong code. At the limits, locks the account or disables the factor. */
  failed(attempt: CountedAttempt): Promise<Failure>
  /**
   * Records a correct code and acquires its approval. The first caller forgives the failures of its own challenge only (R25),
   * and ends the challenge; any later caller gets `false` and changes nothing (R21).
   */
  succeeded(attempt: CountedAttempt, approval: string): Promise<boolean>
  /** Forgets the failures of a factor, because it was bound again. */
  enable(binding: string): Promise<void>
}

/** Counts attempts in `store`. */
export function attemptsIn(store: Counters, approvals: Approvals, { limits }: Settings): Attempts {
  const { attemptsPerChallenge, failuresBeforeLock, failuresBeforeDisable, lockDurationMs } = limits
  const perChallenge = store('attempts', CHALLENGE_WINDOW_MS)
  const perAccount = failureWindowIn(store, failuresBeforeLock)
  const perBinding = store('binding', BINDING_WINDOW_MS)
  const locks = store('lock', DAY_MS)
  const lockCount = store('locks', LOCK_COUNT_WINDOW_MS)

  const lockedForSeconds = async (userId: string) => Math.ceil((await locks.read(userId)).msLeft / 1000)
  const takeBack = async ({ challenge, binding }: Attempt) => {
    await Promise.all([perChallenge.add(challenge, -1), binding && perBinding.add(binding, -1)])
  }

  return {
    async limitsOf(userId, bindings) {
      const counts = bindings.map(async (binding) => (await perBinding.read(binding)).count)
      const [seconds, ...onBindings] = await Promise.all([lockedForSeconds(userId), ...counts])
      const isDisabled = (_: string, index: number) => (onBindings[index] ?? 0) >= failuresBeforeDisable
      return { lockedForSeconds: seconds, disabled: new Set(bindings.filter(isDisabled)) }
    },

    left: async (challenge) => Math.max(0, attemptsPerChallenge - (await perChallenge.read(challenge)).count),

    async consume(attempt) {
      const { userId, challenge, binding } = attempt
      const nth = (await perChallenge.add(challenge, 1)).count
      if (nth > attemptsPerChallenge) {
        await perChallenge.add(challenge, -1)
        const seconds = await lockedForSeconds(userId)
        return seconds > 0
          ? { ok: false, why: 'locked', retryAfterSeconds: seconds }
          : { ok: false, why: 'exhausted', retryAfterSeconds: 1 }
      }
      const onBinding = binding === undefined ? 0 : (await perBinding.add(binding, 1)).count
      if (onBinding > failuresBeforeDisable) {
        await takeBack(attempt)
        return { ok: false, why: 'disabled' }
      }
      const entry = await perAccount.add(userId)
      // Read after counting: a lock starts before the failures that caused it are forgotten, so a concurrent attempt meets
      // either the full count or the lock (R32).
      const seconds = await lockedForSeconds(userId)
      if (seconds > 0 || entry === undefined) {
        await Promise.all([takeBack(attempt), entry && perAccount.remove(userId, entry)])
        // No lock yet: other attempts are still being evaluated and may cause one. The client can retry in a second.
        return { ok: false, why: 'locked', retryAfterSeconds: Math.max(1, seconds) }
      }
      const counted = { ...attempt, nth, entry, onBinding }
      return { ok: true, attemptsLeft: attemptsPerChallenge - nth, attempt: counted }
    },

    async refund(attempt) {
      await Promise.all([takeBack(attempt), perAccount.remove(attempt.userId, attempt.entry)])
    },

    async failed({ userId, challenge, nth, entry, onBinding }) {
      const disabled = onBinding === failuresBeforeDisable
      await perAccount.remember(challenge, nth, entry)
      const open = { lockedForSeconds: 0, disabled }
      if (!(await perAccount.isFull(userId))) return open
      // Concurrent wrong codes lock the account once.
      if ((await locks.add(userId, 1)).count > 1) return open
      const { count } = await lockCount.add(userId, 1)
      const ms = Math.min(lockDurationMs * 2 ** (count - 1), DAY_MS)
      await locks.set(userId, 1, ms)
      await perAccount.clear(userId)
      // Restarts the window with each lock. Otherwise the locks would become short again during a long attack.
      await lockCount.set(userId, count, LOCK_COUNT_WINDOW_MS)
      return { lockedForSeconds: Math.ceil(ms / 1000), disabled }
    },

    async succeeded({ userId, challenge, binding, entry }, approval) {
      if (!(await approvals.acquire(approval))) return false
      // A refused attempt is counted for a moment, so the count can exceed the limit.
      const count = Math.min((await perChallenge.read(challenge)).count, attemptsPerChallenge)
      await perAccount.forgive(userId, challenge, count, entry)
      for (let forgiven = 0; binding && forgiven < count; forgiven++) await perBinding.add(binding, -1)
      await perChallenge.set(challenge, attemptsPerChallenge, CHALLENGE_WINDOW_MS)
      return true
    },

    enable: (binding) => perBinding.remove(binding),
  }
}

/** In milliseconds. Longer than any challenge lives, so that no approval is forgotten before it is worthless. */
export const APPROVAL_WINDOW_MS = 20 * 60_000

/** Of several right codes for one pending login, one becomes a session (R21). */
export interface Approvals {
  /** True for the first caller only, among all processes: it may turn this approval into a session. */
  acquire(approval: string): Promise<boolean>
  /** Gives an approval back that no session was made of. */
  release(approval: string): Promise<void>
}

/** Counts approvals in `store`. */
export function approvalsIn(store: Counters): Approvals {
  const acquired = store('claim', APPROVAL_WINDOW_MS)
  return {
    acquire: async (approval) => (await acquired.add(approval, 1)).count === 1,
    release: (approval) => acquired.remove(approval),
  }
}
