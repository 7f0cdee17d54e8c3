import { randomUUID } from 'node:crypto'
import type { Settings } from '../../options/settings.js'
import { DAY_MS } from '../../time.js'
import { type Counters, counterName, group, type StepStore, type Update } from './step.js'

/** In milliseconds. Each lock within this time of the previous one lasts twice as long. */
const LOCK_COUNT_WINDOW_MS = 2 * DAY_MS

/** In milliseconds. Failures of a factor are counted since it was bound; no store keeps a count for ever, so ten years. */
export const BINDING_WINDOW_MS = 3_650 * DAY_MS

/** In milliseconds. Longer than any challenge lives, so that no count and no transaction ends before its challenge does. */
const CHALLENGE_WINDOW_MS = 20 * 60_000

/** Wrong codes in a day after which the user is warned that an attacker may know their password (R34). */
const NOTIFY_AT = 5

/** The user who enters a code, and the challenge it is for. */
export interface Attempt {
  readonly userId: string
  /** The id of the challenge, or its substitute if no code was sent. */
  readonly challenge: string
  /** The transaction that a correct code completes: the pending login, or the enrollment. Of several correct codes for it, one is accepted. */
  readonly transaction: string
  /** The factor that the code belongs to, as `factorBinding` names it. Absent while a new app is confirmed. */
  readonly binding?: string | undefined
  /** Whether the user signs in with it, after the password. */
  readonly signsIn?: boolean
}

/** An attempt that was counted, and whose code may be evaluated. */
export interface CountedAttempt extends Attempt {
  /** Its counter among the failures of the account. */
  readonly failure: string
  /** Its number among the unforgiven failures of the factor. */
  readonly onBinding: number
}

/** Whether a code may be evaluated. */
export type AttemptPermit =
  | { readonly ok: true; readonly attemptsLeft: number; readonly attempt: CountedAttempt }
  | { readonly ok: false; readonly why: 'exhausted' | 'locked'; readonly retryAfterSeconds: number }
  | { readonly ok: false; readonly why: 'disabled' }

/** The effects of a wrong code. */
interface Failure {
  /** How long the account is locked because of it; 0 if it is not. */
  readonly lockedForSeconds: number
  readonly disabled: boolean
  /** Whether the user should be told of repeated wrong codes after a correct password. */
  readonly repeated: boolean
}

/** The limits of an account at present. */
export interface AccountLimits {
  readonly lockedForSeconds: number
  /** How many backup codes are left of those that were sent, `some` if the number is unknown, `undefined` if nothing is known. */
  readonly backupCodesLeft: BackupCodesLeft
  /** Whether a factor is disabled, as `factorBinding` names it. */
  isDisabled(binding: string): boolean
  /** How many attempts a challenge of these transactions has left. */
  attemptsLeft(challenge: string): number
}

/** How many backup codes are left, `some` if the number is unknown, `undefined` if it is unknown whether the user has any. */
export type BackupCodesLeft = number | 'some' | undefined

/** Limits wrong codes per challenge (R22), per account (R23) and per factor since it was bound (R96). */
export interface Attempts {
  /** The limits of an account, and of the challenges of these transactions and enrollments. */
  findLimits(userId: string, transactions: readonly string[]): Promise<AccountLimits>
  /** Counts an attempt in all limits before the code is evaluated, or says which limit is reached. */
  consume(attempt: Attempt): Promise<AttemptPermit>
  /** Takes an attempt back whose code was not evaluated, because the service failed or refused (R77). */
  refund(attempt: CountedAttempt): Promise<void>
  /** Records a wrong code. At the limits, locks the account or disables the factor. */
  recordFailure(attempt: CountedAttempt): Promise<Failure>
  /** Acquires the transaction of a correct code. The first caller forgives its challenge (R25), others get `false`. */
  recordSuccess(attempt: CountedAttempt): Promise<boolean>
  /** Forgets the failures of a factor, because it was bound again. */
  enable(userId: string, binding: string): Promise<void>
}

const LOCK_NAME = 'lock'

/** The lock of an account: at most one counter, named by the attempt that caused it. */
export const LOCK = group(LOCK_NAME)

/** One more than the backup codes that are left, since a counter of 0 is none. */
export const BACKUP_CODES = 'backup-codes'

/** Stands for backup codes whose number the service did not say. No service sends as many. */
export const UNCOUNTED = 1_000_000

/** The counter of the attempts on a challenge. */
export const nameChallengeCounter = (challenge: string) => `attempts ${counterName(challenge)}`

/** The counter of the failures of a factor. */
export const nameFactorCounter = (binding: string) => `binding ${counterName(binding)}`

const LOCKS = 'locks'
const WRONG = 'wrong-after-password'
const CLAIM = 'claim'

const FAILED = 'failed'

/** All failures of an account in the last 24 hours. Each is a counter of its own, which ends 24 hours after it happened. */
const FAILURES = group(FAILED)

const nameFailureCounter = (challenge: string) => `${FAILED} ${counterName(challenge)}`

/** The condition of an account for a code of this factor to be sent or evaluated. */
export function requireUsable(
  binding: string | undefined,
  { failuresBeforeDisable }: Settings['limits'],
): NonNullable<Update['requires']> {
  const isOpen = { counter: LOCK, below: 1 }
  return binding === undefined
    ? [isOpen]
    : [isOpen, { counter: nameFactorCounter(binding), below: failuresBeforeDisable }]
}

/** The limits that these counters of an account, and of some of its transactions, amount to. */
export function accountLimits(
  account: Counters | undefined,
  transactions: readonly Counters[],
  { attemptsPerChallenge, failuresBeforeDisable }: Settings['limits'],
): AccountLimits {
  return {
    lockedForSeconds: Math.ceil((account?.msLeft(LOCK) ?? 0) / 1000),
    backupCodesLeft: backupCodesLeft(account),
    isDisabled: (binding) => (account?.count(nameFactorCounter(binding)) ?? 0) >= failuresBeforeDisable,
    attemptsLeft: (challenge) =>
      Math.max(
        0,
        attemptsPerChallenge -
          Math.max(
            0,
            ...transactions.map((transaction) => transaction.count(nameChallengeCounter(challenge))),
          ),
      ),
  }
}

/** How many backup codes the counters of an account say are left. */
export function backupCodesLeft(account: Counters | undefined): BackupCodesLeft {
  const kept = account?.count(BACKUP_CODES) ?? 0
  if (kept === 0) return undefined
  return kept > UNCOUNTED / 2 ? 'some' : kept - 1
}

/** Counts attempts in `store`. */
export function createAttempts(store: StepStore, { limits }: Settings): Attempts {
  const { attemptsPerChallenge, failuresBeforeLock, failuresBeforeDisable, lockDurationMs } = limits
  const locksMs = Array.from({ length: 8 }, (_, nth) => Math.min(lockDurationMs * 2 ** nth, DAY_MS))
  const dayMs = [DAY_MS]

  return {
    async findLimits(userId, transactions) {
      const [account, ...ofTransactions] = await store.read(userId, transactions)
      return accountLimits(account, ofTransactions, limits)
    },

    async consume(attempt) {
      const { userId, challenge, transaction, binding } = attempt
      const attempts = nameChallengeCounter(challenge)
      const failure = `${nameFailureCounter(challenge)} ${randomUUID()}`
      const factor = binding === undefined ? undefined : nameFactorCounter(binding)
      const { isPermitted, counters } = await store.run(userId, [
        {
          transaction,
          requires: [{ counter: attempts, below: attemptsPerChallenge }],
          changes: [{ counter: attempts, add: 1, livesMs: [CHALLENGE_WINDOW_MS] }],
          undo: [{ counter: attempts, add: -1 }],
        },
        {
          requires: [
            ...requireUsable(binding, limits),
            // Failures that are still evaluated count, so that concurrent codes cannot pass the limit (R32).
            { counter: FAILURES, below: failuresBeforeLock },
          ],
          changes: [
            { counter: failure, add: 1, livesMs: dayMs },
            ...(factor === undefined ? [] : [{ counter: factor, add: 1, livesMs: [BINDING_WINDOW_MS] }]),
          ],
        },
      ])
      const [ofTransaction, account] = counters as [Counters, Counters]
      const found = accountLimits(account, [ofTransaction], limits)
      const left = found.attemptsLeft(challenge)
      if (isPermitted) {
        const onBinding = factor === undefined ? 0 : account.count(factor)
        return { ok: true, attemptsLeft: left, attempt: { failure, onBinding, ...attempt } }
      }
      if (left > 0 && binding !== undefined && found.isDisabled(binding))
        return { ok: false, why: 'disabled' }
      const seconds = found.lockedForSeconds
      // No lock yet: other attempts are still being evaluated and may cause one. The client can retry in a second.
      const why = seconds > 0 || left > 0 ? 'locked' : 'exhausted'
      return { ok: false, why, retryAfterSeconds: Math.max(1, seconds) }
    },

    async refund({ userId, challenge, transaction, binding, failure }) {
      const isCounted = { when: failure, atLeast: 1 }
      await store.run(userId, [
        { transaction, changes: [{ counter: nameChallengeCounter(challenge), add: -1 }] },
        {
          changes: [
            // Not if a correct code forgave it already.
            ...(binding === undefined
              ? []
              : [{ counter: nameFactorCounter(binding), add: -1, ...isCounted }]),
            { counter: failure, set: 0 },
          ],
        },
      ])
    },

    async recordFailure({ userId, failure, onBinding, signsIn }) {
      const lock = `${LOCK_NAME} ${failure.slice(failure.lastIndexOf(' ') + 1)}`
      const isFull = { when: FAILURES, atLeast: failuresBeforeLock }
      const { counters } = await store.run(userId, [
        {
          changes: [
            ...(signsIn ? [{ counter: WRONG, add: 1, livesMs: dayMs }] : []),
            { counter: lock, set: 1, livesMs: locksMs, nth: LOCKS, ...isFull },
            // Otherwise the locks would become short again during a long attack.
            { counter: LOCKS, add: 1, livesMs: [LOCK_COUNT_WINDOW_MS], restarts: true, ...isFull },
            { counter: FAILURES, set: 0, ...isFull },
          ],
        },
      ])
      const [account] = counters as [Counters]
      return {
        lockedForSeconds: Math.ceil(account.msLeft(lock) / 1000),
        disabled: onBinding === failuresBeforeDisable,
        repeated: signsIn === true && account.count(WRONG) === NOTIFY_AT,
      }
    },

    async recordSuccess({ userId, challenge, transaction, binding }) {
      const livesMs = [CHALLENGE_WINDOW_MS]
      const forgiven = group(nameFailureCounter(challenge))
      const { isPermitted } = await store.run(userId, [
        {
          transaction,
          requires: [{ counter: CLAIM, below: 1 }],
          changes: [
            { counter: CLAIM, set: 1, livesMs },
            { counter: nameChallengeCounter(challenge), set: attemptsPerChallenge, livesMs },
          ],
        },
        {
          changes: [
            ...(binding === undefined ? [] : [{ counter: nameFactorCounter(binding), minus: forgiven }]),
            { counter: forgiven, set: 0 },
          ],
        },
      ])
      return isPermitted
    },

    async enable(userId, binding) {
      await store.run(userId, [{ changes: [{ counter: nameFactorCounter(binding), set: 0 }] }])
    },
  }
}

/** Of several right codes for one pending login, one becomes a session (R21). */
export interface Transactions {
  /** True for the first caller only, among all processes: it may turn this transaction into a session. */
  acquire(userId: string, transaction: string): Promise<boolean>
  /** Gives back a transaction of which no session was made. */
  release(userId: string, transaction: string): Promise<void>
}

/** Counts transactions in `store`. */
export function createTransactions(store: StepStore): Transactions {
  return {
    async acquire(userId, transaction) {
      const changes = [{ counter: CLAIM, set: 1, livesMs: [CHALLENGE_WINDOW_MS] }]
      return (await store.run(userId, [{ transaction, requires: [{ counter: CLAIM, below: 1 }], changes }]))
        .isPermitted
    },
    async release(userId, transaction) {
      await store.run(userId, [{ transaction, changes: [{ counter: CLAIM, set: 0 }] }])
    },
  }
}
