import { createStatement, lookUpSql, type Statement } from '../store/store.js'
import { DAY_MS, HOUR_MS } from '../time.js'

interface ValueOf {
  readonly text: string
  readonly bigint: number
  readonly boolean: boolean
  readonly 'text[]': readonly string[]
}

/** The JSON values of columns such as `step bigint, secret text`: a value of their types, or `null`. */
type ColumnsOf<Columns extends string> = Columns extends `${infer First}, ${infer Rest}`
  ? ColumnsOf<First> & ColumnsOf<Rest>
  : Columns extends `${infer Name} ${infer Type extends keyof ValueOf}`
    ? { readonly [Column in Name]: ValueOf[Type] | null }
    : never

const FIELDS =
  'now bigint, account text, factor text, transaction_scope text, new_email text, new_phone text, new_email_hash text, new_phone_hash text, new_locale text, defers boolean, notifies boolean'

/**
 * An attempt as a statement reads it from JSON. Times in milliseconds since 1970. `transaction_scope`, `transaction:<name>`, is the scope
 * of failures that belong to no challenge. With `defers`, nothing is evaluated if a notice may be due, so that the attempt can be repeated
 * in a transaction; with `notifies`, a valid code is a reason for one, and not only a wrong one that locks the account.
 */
export type AttemptFields = ColumnsOf<typeof FIELDS>

type AttemptParameters = {
  readonly application: string
  /** Attempts as JSON, for different accounts: `AttemptFields`, those of the evaluation, and the position `nr`. */
  readonly attempts: string
  readonly failuresBeforeDisable: number
  readonly failuresBeforeLock: number
  readonly lockMs: number
}

/** A statement that evaluates and counts attempts, each of them with fields of its own for the evaluation. */
export interface AttemptStatement<Own> extends Statement<AttemptParameters> {
  readonly name: string
  /** Never set; it only carries the type of the fields that the evaluation needs. */
  readonly own?: Own
}

// After ten locks the lock duration has long reached its maximum of 24 hours.
const MAX_LOCK_LEVEL = 10

/** The condition that rows of a table belong to the account of a row of `attempts`. */
export const matchAccountSql = (table: string, attempts: 'gate' | 'held'): string =>
  `${lookUpSql(`${table}.application`, `${attempts}.application`)} AND ${table}.account = ${attempts}.account`

const IS_LOCKED = '(held.locked_until > held.now)'
const IS_DEFERRED = `(held.defers
  AND (held.notifies OR jsonb_array_length(held.failures) >= :failuresBeforeLock::integer - 1))`

// Failures before the latest lock no longer count: the account starts again with all its attempts.
const IS_RECENT = `(entry ->> 'at')::bigint > greatest(held.now - ${DAY_MS}, held.locked_at)`
const IS_FORGIVEN = `evaluated.ok
  AND (entry ->> 'scope' = 'challenge:' || evaluated.challenge OR entry ->> 'scope' = held.transaction_scope)`
// The last use of a factor is written at most once an hour, to save writes.
const IS_NEW_USE = `judged.ok AND held.now - coalesce((account.used ->> held.factor)::bigint, 0) >= ${HOUR_MS}`
const LOCKED_WITHIN_A_DAY = `held.now - account.locked_until < ${DAY_MS}`

/** Locks the accounts' rows: attempts on one account happen one after the other. Accounts that do not exist get no result. */
const holdAccounts = (ownFields: string) => `held AS MATERIALIZED (
    SELECT :application::text AS application, wanted.*, known.* FROM (
      SELECT * FROM json_to_recordset(:attempts::json) AS wanted (nr integer, ${FIELDS}, ${ownFields})
      -- Two statements that lock accounts in different orders would wait for each other.
      ORDER BY account
    ) AS wanted, LATERAL (
      SELECT locked_at, locked_until, lock_level, failures, proven_email, proven_phone, locale
      FROM account WHERE application = :application AND account.account = wanted.account FOR UPDATE
    ) AS known
  )`

const HOLD_FACTORS = `held_factor AS MATERIALIZED (
    SELECT held.nr, known.failures FROM held, LATERAL (
      SELECT factor.failures FROM factor
      WHERE factor.application = :application AND factor.account = held.account AND factor.factor = held.factor FOR UPDATE
    ) AS known
  )`

/** Decides whether a code may be evaluated at all. */
const GATE = `gate AS MATERIALIZED (
    SELECT held.*, ${IS_LOCKED} AS locked,
      NOT ${IS_LOCKED} AND ${IS_DEFERRED} AS deferred,
      NOT ${IS_LOCKED} AND NOT ${IS_DEFERRED} AS open,
      coalesce(held_factor.failures, 0) >= :failuresBeforeDisable::integer AS disabled
    FROM held LEFT JOIN held_factor USING (nr)
  )`

/** The account's recorded failures without those that are too old or forgiven, and whether this one locks the account. */
const JUDGE_FAILURES = `judged AS MATERIALIZED (
    SELECT nr, evaluated.ok, evaluated.challenge, recent.failures, recent.locks
    FROM evaluated JOIN held USING (nr), LATERAL (
      SELECT
        coalesce(
          jsonb_agg(entry) FILTER (WHERE ${IS_RECENT} AND NOT coalesce(${IS_FORGIVEN}, false)), '[]'
        ) AS failures,
        count(*) FILTER (WHERE ${IS_RECENT}) + 1 >= :failuresBeforeLock::integer AND NOT evaluated.ok AS locks
      FROM jsonb_array_elements(held.failures) AS entry
    ) AS recent
  )`

const COUNT_FACTOR_FAILURE = `factor_counted AS (
    INSERT INTO factor (application, account, factor, failures)
    SELECT :application, account, factor, 1 FROM evaluated JOIN held USING (nr) WHERE NOT ok
    ON CONFLICT (application, account, factor) DO UPDATE SET failures = factor.failures + 1
  )`

/** After a valid code, subtracts the forgiven failures from their factors; a factor that was bound again starts at 0. */
const FORGIVE_FACTOR_FAILURES = `factor_forgiven AS (
    UPDATE factor SET failures = CASE WHEN evaluated.rebound AND factor.factor = held.factor THEN 0
      ELSE greatest(0, factor.failures - (
        SELECT count(*) FROM jsonb_array_elements(held.failures) AS entry
        WHERE entry ->> 'factor' = factor.factor AND ${IS_FORGIVEN}
      )) END
    FROM evaluated JOIN held USING (nr)
    WHERE evaluated.ok AND ${matchAccountSql('factor', 'held')}
      AND (evaluated.rebound AND factor.factor = held.factor OR held.failures <> '[]')
  )`

/** Records the failure, the lock that follows from it, or the contact that a valid code proved and the use of its factor. */
const UPDATE_ACCOUNT = `updated AS (
    UPDATE account SET
      failures = CASE WHEN judged.ok THEN judged.failures
        ELSE judged.failures || jsonb_build_array(jsonb_build_object(
          'at', held.now, 'factor', held.factor,
          'scope', coalesce('challenge:' || judged.challenge, held.transaction_scope))) END,
      locked_at = CASE WHEN judged.locks THEN held.now ELSE account.locked_at END,
      locked_until = CASE WHEN judged.locks
        THEN held.now + least(
          :lockMs::bigint * 2 ^ (CASE WHEN ${LOCKED_WITHIN_A_DAY} THEN account.lock_level ELSE 0 END), ${DAY_MS})
        ELSE account.locked_until END,
      lock_level = CASE WHEN NOT judged.locks THEN account.lock_level
        WHEN ${LOCKED_WITHIN_A_DAY} THEN least(account.lock_level + 1, ${MAX_LOCK_LEVEL}) ELSE 1 END,
      proven_email = CASE WHEN judged.ok THEN coalesce(held.new_email, account.proven_email)
        ELSE account.proven_email END,
      proven_phone = CASE WHEN judged.ok THEN coalesce(held.new_phone, account.proven_phone)
        ELSE account.proven_phone END,
      email_hash = CASE WHEN judged.ok THEN coalesce(held.new_email_hash, account.email_hash)
        ELSE account.email_hash END,
      phone_hash = CASE WHEN judged.ok THEN coalesce(held.new_phone_hash, account.phone_hash)
        ELSE account.phone_hash END,
      locale = CASE WHEN judged.ok THEN coalesce(held.new_locale, account.locale) ELSE account.locale END,
      used = CASE WHEN ${IS_NEW_USE} THEN account.used || jsonb_build_object(held.factor, held.now)
        ELSE account.used END
    FROM judged JOIN held USING (nr)
    WHERE ${matchAccountSql('account', 'held')} AND (NOT judged.ok
      OR judged.failures <> account.failures
      OR ${IS_NEW_USE}
      OR coalesce(held.new_email, account.proven_email) IS DISTINCT FROM account.proven_email
      OR coalesce(held.new_phone, account.proven_phone) IS DISTINCT FROM account.proven_phone
      OR coalesce(held.new_locale, account.locale) IS DISTINCT FROM account.locale)
    RETURNING judged.nr, CASE WHEN judged.locks THEN account.locked_until END AS locks_until
  )`

/** A row for each attempt on a known account: the account as it was found, and the result. */
const RESULT = `SELECT nr, gate.locked_until, gate.proven_email, gate.proven_phone, gate.locale,
    gate.locked, gate.deferred, gate.disabled, evaluated.ok, evaluated.challenge, updated.locks_until
  FROM gate LEFT JOIN evaluated USING (nr) LEFT JOIN updated USING (nr)`

/**
 * A statement that evaluates attempts on different accounts and counts them, all in one step: it locks each account's row, checks
 * the account's lock and the factor's limit of failures, evaluates the code, and counts a failure or forgives earlier ones.
 * `ownFields` are the columns of the evaluation, such as `step bigint`. `evaluation` is a list of CTEs that ends with `evaluated
 * (nr, ok, challenge, rebound)`, which has a row for each attempt that was evaluated. It reads `gate (nr, open, disabled, …)`,
 * which has all fields of the attempts, and must evaluate nothing unless the gate is open.
 */
export function attemptStatement<const Columns extends string>(
  name: string,
  ownFields: Columns,
  evaluation: string,
): AttemptStatement<ColumnsOf<Columns>> {
  const steps = [
    holdAccounts(ownFields),
    HOLD_FACTORS,
    GATE,
    evaluation,
    JUDGE_FAILURES,
    COUNT_FACTOR_FAILURE,
    FORGIVE_FACTOR_FAILURES,
    UPDATE_ACCOUNT,
  ]
  return { name, ...createStatement<AttemptParameters>(`WITH ${steps.join(', ')} ${RESULT}`) }
}
