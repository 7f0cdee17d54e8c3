import { type Statement, statement } from '../store/statement.js'
import type { Value } from '../store/store.js'

/** The parameters of every attempt statement; an evaluation may add its own. */
export type AttemptParameters = {
  readonly application: string
  readonly account: string
  readonly factor: string
  readonly now: number
  readonly failuresBeforeDisable: number
  readonly failuresBeforeLock: number
  readonly lockMs: number
  /** Scope of failures that belong to no challenge: `transaction:<name>`, or nothing. */
  readonly transactionScope: string | null
  readonly provenEmail: string | null
  readonly provenPhone: string | null
  readonly locale: string | null
  /** With this many recorded failures nothing is evaluated, so that the attempt can be repeated in a transaction. */
  readonly deferredFrom: number
}

/** A statement that evaluates and counts one attempt. */
export type AttemptStatement<Own> = Statement<AttemptParameters & Own>

const DAY_MS = 86_400_000
// After ten locks the lock duration has long reached its maximum of 24 hours.
const MAX_LOCK_LEVEL = 10
// The last use of a factor is written at most once in this time, to save writes.
const HOUR_MS = 3_600_000

const IS_LOCKED = '(locked_until > :now::bigint)'
const IS_DEFERRED = '(jsonb_array_length(failures) >= :deferredFrom::integer)'

// Failures before the latest lock no longer count: the account starts again with all its attempts.
const IS_RECENT = `(entry ->> 'at')::bigint > greatest(:now::bigint - ${DAY_MS}, held.locked_at)`
const IS_FORGIVEN = `evaluated.ok
  AND (entry ->> 'scope' = 'challenge:' || evaluated.challenge OR entry ->> 'scope' = :transactionScope)`
const IS_NEW_USE = `judged.ok AND :now::bigint - coalesce((account.used ->> :factor::text)::bigint, 0) >= ${HOUR_MS}`
const LOCKED_WITHIN_A_DAY = `:now::bigint - account.locked_until < ${DAY_MS}`

/** Locks the account's row: attempts on one account happen one after the other. */
const HOLD_ACCOUNT = `held AS MATERIALIZED (
    SELECT locked_at, locked_until, lock_level, failures, proven_email, proven_phone, locale
    FROM account WHERE application = :application AND account = :account FOR UPDATE
  )`

/** Locks the factor's count of failures. */
const HOLD_FACTOR = `held_factor AS MATERIALIZED (
    SELECT factor.failures FROM factor, held
    WHERE factor.application = :application AND factor.account = :account AND factor.factor = :factor
    FOR UPDATE OF factor
  )`

/** Decides whether a code may be evaluated at all. */
const GATE = `gate AS MATERIALIZED (
    SELECT ${IS_LOCKED} AS locked,
      NOT ${IS_LOCKED} AND ${IS_DEFERRED} AS deferred,
      NOT ${IS_LOCKED} AND NOT ${IS_DEFERRED} AS open,
      coalesce((SELECT failures FROM held_factor), 0) >= :failuresBeforeDisable::integer AS disabled
    FROM held
  )`

/** The account's recorded failures without those that are too old or forgiven, and whether this one locks the account. */
const JUDGE_FAILURES = `judged AS MATERIALIZED (
    SELECT evaluated.ok, evaluated.challenge, recent.failures, recent.locks FROM evaluated, held, LATERAL (
      SELECT
        coalesce(
          jsonb_agg(entry) FILTER (WHERE ${IS_RECENT} AND NOT coalesce(${IS_FORGIVEN}, false)), '[]'
        ) AS failures,
        count(*) FILTER (WHERE ${IS_RECENT}) + 1 >= :failuresBeforeLock::integer AND NOT evaluated.ok AS locks
      FROM jsonb_array_elements(held.failures) AS entry
    ) AS recent
  )`

/** Counts a wrong code against the factor. */
const COUNT_FACTOR_FAILURE = `factor_counted AS (
    INSERT INTO factor (application, account, factor, failures)
    SELECT :application, :account, :factor, 1 FROM evaluated WHERE NOT evaluated.ok
    ON CONFLICT (application, account, factor) DO UPDATE SET failures = factor.failures + 1
  )`

/** After a valid code, subtracts the forgiven failures from their factors; a factor that was bound again starts at 0. */
const FORGIVE_FACTOR_FAILURES = `factor_forgiven AS (
    UPDATE factor SET failures = CASE WHEN evaluated.rebound AND factor.factor = :factor THEN 0
      ELSE greatest(0, factor.failures - (
        SELECT count(*) FROM jsonb_array_elements(held.failures) AS entry
        WHERE entry ->> 'factor' = factor.factor AND ${IS_FORGIVEN}
      )) END
    FROM evaluated, held
    WHERE evaluated.ok AND factor.application = :application AND factor.account = :account
      AND (evaluated.rebound AND factor.factor = :factor OR held.failures <> '[]')
  )`

/** Records the failure, the lock that follows from it, or the contact that a valid code proved and the use of its factor. */
const UPDATE_ACCOUNT = `updated AS (
    UPDATE account SET
      failures = CASE WHEN judged.ok THEN judged.failures
        ELSE judged.failures || jsonb_build_array(jsonb_build_object(
          'at', :now::bigint, 'factor', :factor::text,
          'scope', coalesce('challenge:' || judged.challenge, :transactionScope::text))) END,
      locked_at = CASE WHEN judged.locks THEN :now::bigint ELSE account.locked_at END,
      locked_until = CASE WHEN judged.locks
        THEN :now::bigint + least(
          :lockMs::bigint * 2 ^ (CASE WHEN ${LOCKED_WITHIN_A_DAY} THEN account.lock_level ELSE 0 END), ${DAY_MS})
        ELSE account.locked_until END,
      lock_level = CASE WHEN NOT judged.locks THEN account.lock_level
        WHEN ${LOCKED_WITHIN_A_DAY} THEN least(account.lock_level + 1, ${MAX_LOCK_LEVEL}) ELSE 1 END,
      proven_email = CASE WHEN judged.ok THEN coalesce(:provenEmail, account.proven_email)
        ELSE account.proven_email END,
      proven_phone = CASE WHEN judged.ok THEN coalesce(:provenPhone, account.proven_phone)
        ELSE account.proven_phone END,
      locale = CASE WHEN judged.ok THEN coalesce(:locale, account.locale) ELSE account.locale END,
      used = CASE WHEN ${IS_NEW_USE} THEN account.used || jsonb_build_object(:factor::text, :now::bigint)
        ELSE account.used END
    FROM judged
    WHERE account.application = :application AND account.account = :account AND (NOT judged.ok
      OR judged.failures <> account.failures
      OR ${IS_NEW_USE}
      OR coalesce(:provenEmail::text, account.proven_email) IS DISTINCT FROM account.proven_email
      OR coalesce(:provenPhone::text, account.proven_phone) IS DISTINCT FROM account.proven_phone
      OR coalesce(:locale::text, account.locale) IS DISTINCT FROM account.locale)
    RETURNING CASE WHEN judged.locks THEN account.locked_until END AS locks_until
  )`

/** One row: the account as it was found, and the result. */
const RESULT = `SELECT held.locked_until, held.proven_email, held.proven_phone, held.locale,
    gate.locked, gate.deferred, gate.disabled, evaluated.ok, evaluated.challenge, updated.locks_until
  FROM held CROSS JOIN gate LEFT JOIN evaluated ON true LEFT JOIN updated ON true`

/**
 * A statement that evaluates one attempt and counts it, all in one step: it locks the account's row, checks the
 * account's lock and the factor's limit of failures, evaluates the code, and counts a failure or forgives earlier ones.
 * `evaluation` is a list of CTEs that ends with `evaluated (ok, challenge, rebound)`, which has one row when a code was
 * evaluated and none otherwise. It reads `gate (open, disabled)` and must evaluate nothing unless the gate is open.
 */
export function attemptStatement<Own extends { readonly [Name in keyof Own]: Value }>(
  evaluation: string,
): AttemptStatement<Own> {
  const steps = [
    HOLD_ACCOUNT,
    HOLD_FACTOR,
    GATE,
    evaluation,
    JUDGE_FAILURES,
    COUNT_FACTOR_FAILURE,
    FORGIVE_FACTOR_FAILURES,
    UPDATE_ACCOUNT,
  ]
  return statement<AttemptParameters & Own>(`WITH ${steps.join(', ')} ${RESULT}`)
}
