import type { Contact } from 'countersign/protocol'
import type { Application } from '../application.js'
import { one, type Queries, type Store, type Value } from '../store/store.js'
import type { AccountRow } from './account.js'

const DAY_MS = 86_400_000
/** Longer than the lock that follows ten of them would be of no use. */
const HIGHEST_LOCK_LEVEL = 10
/** More failures than any account remembers. */
const NEVER = 1_000

/** An attempt at proving a factor. */
export interface Attempt {
  readonly account: string
  /** Which factor is guessed at, like `APP` or `PHONE:+447700900123`. */
  readonly factor: string
  /** The caller's name of what is going on; failures that belong to no challenge are forgiven within it (R25). */
  readonly transaction: string | undefined
  /** Remembered as the person's own when the code is right. */
  readonly proven?: { readonly contact: Contact; readonly locale: string | undefined }
  /** The person is told of a right code, and not only of the lock that a wrong one may be followed by. */
  readonly tellsSuccess?: boolean
  /** Writes down what the person is told, in the transaction of the attempt. */
  tell(tx: Queries, found: Attempted): Promise<void>
}

/** What an attempt came to, and the account as it was found. */
export interface Attempted extends Omit<AccountRow, 'account'> {
  /** Nothing was evaluated: the account is locked. */
  readonly locked: boolean
  /** Nothing was evaluated: the person may have to be told of what comes out. */
  readonly deferred: boolean
  /** The factor has used up its guesses (R26). */
  readonly disabled: boolean
  /** Whether the code was right; `null` when nothing was evaluated. */
  readonly ok: boolean | null
  /** When this attempt was the one too many: until when the account is locked now. */
  readonly locks_until: number | null
}

/** The first parameter that an evaluation may use; the ones before are the frame's. */
export const FIRST_PARAMETER = 13

const LOCKED = '(locked_until > $4::bigint)'
const DEFERRED = '(jsonb_array_length(failures) >= $12::integer)'

// A lock that has lifted leaves a full budget again: what led to it has been paid for.
const RECENT = `(entry ->> 'at')::bigint > greatest($4::bigint - ${DAY_MS}, held.locked_at)`
const FORGIVEN = `tried.ok AND (entry ->> 'scope' = 'challenge:' || tried.challenge OR entry ->> 'scope' = $8)`

/**
 * The text of a statement that judges and settles an attempt in one step: it holds the account's row, looks at the
 * lock and the hard cap, evaluates, and counts or forgives. `evaluation` ends in `tried (ok, challenge, rebound)`,
 * one row when something was evaluated; it reads `gate (open, disabled)` and must evaluate nothing unless it is open.
 */
export function attemptStatement(evaluation: string): string {
  return `WITH held AS MATERIALIZED (
    SELECT locked_at, locked_until, lock_level, failures, proven_email, proven_phone, locale
    FROM account WHERE application = $1 AND account = $2 FOR UPDATE
  ), capped AS MATERIALIZED (
    SELECT factor.failures FROM factor, held
    WHERE factor.application = $1 AND factor.account = $2 AND factor.factor = $3 FOR UPDATE OF factor
  ), gate AS MATERIALIZED (
    SELECT ${LOCKED} AS locked, NOT ${LOCKED} AND ${DEFERRED} AS deferred, NOT ${LOCKED} AND NOT ${DEFERRED} AS open,
      coalesce((SELECT failures FROM capped), 0) >= $5::integer AS disabled FROM held
  ), ${evaluation},
  kept AS MATERIALIZED (
    SELECT tried.ok, tried.challenge, recent.failures, recent.locks FROM tried, held, LATERAL (
      SELECT coalesce(jsonb_agg(entry) FILTER (WHERE ${RECENT} AND NOT coalesce(${FORGIVEN}, false)), '[]') AS failures,
        count(*) FILTER (WHERE ${RECENT}) + 1 >= $6::integer AND NOT tried.ok AS locks
      FROM jsonb_array_elements(held.failures) AS entry
    ) AS recent
  ), counted AS (
    INSERT INTO factor (application, account, factor, failures)
    SELECT $1, $2, $3, 1 FROM tried WHERE NOT tried.ok
    ON CONFLICT (application, account, factor) DO UPDATE SET failures = factor.failures + 1
  ), forgiven AS (
    UPDATE factor SET failures = CASE WHEN tried.rebound AND factor.factor = $3 THEN 0 ELSE greatest(0,
      factor.failures - (
        SELECT count(*) FROM jsonb_array_elements(held.failures) AS entry
        WHERE entry ->> 'factor' = factor.factor AND ${FORGIVEN}
      )) END
    FROM tried, held
    WHERE tried.ok AND factor.application = $1 AND factor.account = $2
      AND (tried.rebound AND factor.factor = $3 OR held.failures <> '[]')
  ), settled AS (
    UPDATE account SET
      failures = CASE WHEN kept.ok THEN kept.failures ELSE kept.failures || jsonb_build_array(jsonb_build_object(
        'at', $4::bigint, 'factor', $3::text, 'scope', coalesce('challenge:' || kept.challenge, $8::text))) END,
      locked_at = CASE WHEN kept.locks THEN $4::bigint ELSE account.locked_at END,
      locked_until = CASE WHEN kept.locks THEN $4::bigint + least(
        $7::bigint * 2 ^ (CASE WHEN $4::bigint - account.locked_until < ${DAY_MS} THEN account.lock_level ELSE 0 END),
        ${DAY_MS}) ELSE account.locked_until END,
      lock_level = CASE WHEN NOT kept.locks THEN account.lock_level
        WHEN $4::bigint - account.locked_until < ${DAY_MS}
        THEN least(account.lock_level + 1, ${HIGHEST_LOCK_LEVEL}) ELSE 1 END,
      proven_email = CASE WHEN kept.ok THEN coalesce($9, account.proven_email) ELSE account.proven_email END,
      proven_phone = CASE WHEN kept.ok THEN coalesce($10, account.proven_phone) ELSE account.proven_phone END,
      locale = CASE WHEN kept.ok THEN coalesce($11, account.locale) ELSE account.locale END
    FROM kept
    WHERE account.application = $1 AND account.account = $2 AND (NOT kept.ok
      OR kept.failures <> account.failures
      OR coalesce($9::text, account.proven_email) IS DISTINCT FROM account.proven_email
      OR coalesce($10::text, account.proven_phone) IS DISTINCT FROM account.proven_phone
      OR coalesce($11::text, account.locale) IS DISTINCT FROM account.locale)
    RETURNING CASE WHEN kept.locks THEN account.locked_until END AS locks_until
  )
  SELECT held.locked_until, held.proven_email, held.proven_phone, held.locale,
    gate.locked, gate.deferred, gate.disabled, tried.ok, settled.locks_until
  FROM held CROSS JOIN gate LEFT JOIN tried ON true LEFT JOIN settled ON true`
}

/**
 * Makes an attempt by a statement of `attemptStatement`; nothing when the account is unknown. One statement is all it
 * takes, unless the person may have to be told of it: then attempt and notice are one transaction, so that neither a
 * crash nor a failure leaves one without the other.
 */
export async function attempt(
  store: Store,
  statement: string,
  application: Application,
  attempted: Attempt,
  now: number,
  evaluated: readonly Value[],
): Promise<Attempted | undefined> {
  const { limits } = application
  const { account, factor, transaction, proven, tellsSuccess = false } = attempted
  const contact = proven?.contact
  const make = (queries: Queries, deferredFrom: number) =>
    one<Attempted>(queries, statement, [
      application.id,
      account,
      factor,
      now,
      limits.disableAfter,
      limits.lockAfter,
      limits.lockSeconds * 1000,
      transaction === undefined ? null : `transaction:${transaction}`,
      contact && contact.kind !== 'phone' ? contact.email : null,
      contact && contact.kind !== 'email' ? contact.phone : null,
      proven?.locale ?? null,
      deferredFrom,
      ...evaluated,
    ])
  const alone = await make(store, tellsSuccess ? 0 : limits.lockAfter - 1)
  if (!alone?.deferred) return alone
  return store.transaction(async (tx) => {
    const found = await make(tx, NEVER)
    if (found) await attempted.tell(tx, found)
    return found
  })
}
