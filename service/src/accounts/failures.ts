import type { Application } from '../application.js'
import { one, type Queries } from '../store/store.js'
import type { AccountRow } from './account.js'

const DAY_MS = 86_400_000

/** A wrong code that was evaluated. */
export interface Failure {
  /** Which factor was guessed at, like `APP` or `PHONE:+447700900123`. */
  readonly factor: string
  /** The challenge it was a guess at; only a success of the same challenge forgives it (R25). */
  readonly challenge?: string
}

/** Writes a failure down; `true` when it locked the account. The account's row must be held. */
export async function countFailure(
  tx: Queries,
  application: Application,
  account: AccountRow,
  failure: Failure,
  now: number,
): Promise<boolean> {
  const { limits } = application
  await tx.query(
    'INSERT INTO failure (application, account, factor, challenge, at) VALUES ($1, $2, $3, $4, $5)',
    [application.id, account.account, failure.factor, failure.challenge ?? null, now],
  )
  await tx.query(
    `INSERT INTO factor (application, account, factor, failures) VALUES ($1, $2, $3, 1)
     ON CONFLICT (application, account, factor) DO UPDATE SET failures = factor.failures + 1`,
    [application.id, account.account, failure.factor],
  )
  // What led to the last lock has been paid for; a lock that has lifted leaves a full budget again.
  const since = Math.max(now - DAY_MS, account.locked_at)
  const counted = await one<{ failures: number }>(
    tx,
    'SELECT count(*)::integer AS failures FROM failure WHERE application = $1 AND account = $2 AND at > $3',
    [application.id, account.account, since],
  )
  if ((counted?.failures ?? 0) < limits.lockAfter) return false
  await lock(tx, application, account, now)
  return true
}

async function lock(tx: Queries, application: Application, account: AccountRow, now: number): Promise<void> {
  const level = now - account.locked_until < DAY_MS ? account.lock_level : 0
  const lengthMs = Math.min(application.limits.lockSeconds * 1000 * 2 ** level, DAY_MS)
  await tx.query(
    `UPDATE account SET locked_at = $3, locked_until = $4, lock_level = $5
     WHERE application = $1 AND account = $2`,
    [application.id, account.account, now, now + lengthMs, Math.min(level + 1, 10)],
  )
}

/** Forgives the failures of one challenge after its success (R25). The account's row must be held. */
export async function forgive(
  tx: Queries,
  application: Application,
  account: AccountRow,
  challenge: string,
): Promise<void> {
  await tx.query(
    `WITH gone AS (
       DELETE FROM failure WHERE application = $1 AND account = $2 AND challenge = $3 RETURNING factor
     ), counted AS (SELECT factor, count(*)::integer AS failures FROM gone GROUP BY factor)
     UPDATE factor SET failures = greatest(factor.failures - counted.failures, 0) FROM counted
     WHERE factor.application = $1 AND factor.account = $2 AND factor.factor = counted.factor`,
    [application.id, account.account, challenge],
  )
}

/** Whether the factor has used up its guesses and must be bound again (R26). */
export async function isDisabled(
  tx: Queries,
  application: Application,
  account: AccountRow,
  factor: string,
): Promise<boolean> {
  const row = await one<{ failures: number }>(
    tx,
    'SELECT failures FROM factor WHERE application = $1 AND account = $2 AND factor = $3',
    [application.id, account.account, factor],
  )
  return (row?.failures ?? 0) >= application.limits.disableAfter
}

/** A factor that has been bound again starts with a clean count (R26). */
export async function resetFactor(
  tx: Queries,
  application: Application,
  account: AccountRow,
  factor: string,
): Promise<void> {
  await tx.query('DELETE FROM factor WHERE application = $1 AND account = $2 AND factor = $3', [
    application.id,
    account.account,
    factor,
  ])
}
