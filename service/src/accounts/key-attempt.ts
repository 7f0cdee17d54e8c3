import type { Application } from '../application.js'
import type { Store } from '../store/store.js'
import { type Attempt, type AttemptResult, makeAttempt } from './attempt.js'
import { attemptStatement } from './attempt-statement.js'

/** What an assertion says about the key that it names. */
export interface KeyUse {
  /** The credential id. */
  readonly key: string
  /** Whether everything but the signature counter is right. */
  readonly verified: boolean
  /** The signature counter of the assertion. */
  readonly counter: number
  /** Whether a counter that went back is accepted. */
  readonly acceptsAnyCounter: boolean
  readonly backedUp: boolean
  /** The test key, which is valid for every account of test API keys and is not stored. */
  readonly isTestKey: boolean
}

type Parameters = { readonly [Name in keyof KeyUse]: KeyUse[Name] }

// WebAuthn §7.2: a counter of 0 on both sides says that the key does not count. Otherwise it must have grown.
const EVALUATE_KEY = attemptStatement<Parameters>(`used_key AS (
    UPDATE account_key SET counter = greatest(account_key.counter, :counter::bigint), backed_up = :backedUp::boolean,
      last_used_at = :now::bigint
    FROM gate
    WHERE gate.open AND NOT gate.disabled AND :verified::boolean
      AND account_key.application = :application AND account_key.account = :account AND account_key.id = :key
      AND (account_key.counter < :counter::bigint OR account_key.counter = 0 AND :counter::bigint = 0
        OR :acceptsAnyCounter::boolean)
    RETURNING 1
  ), evaluated AS (
    SELECT EXISTS (SELECT FROM used_key) OR :verified::boolean AND :isTestKey::boolean AS ok,
      NULL::text AS challenge, false AS rebound
    FROM gate WHERE gate.open AND NOT gate.disabled
  )`)

/** Counts an attempt with a key. If it is right, the signature counter, the backup state and the last use are stored. */
export function attemptKey(
  store: Store,
  application: Application,
  attempt: Attempt,
  now: number,
  use: KeyUse,
): Promise<AttemptResult | undefined> {
  return makeAttempt(store, EVALUATE_KEY, application, attempt, now, use)
}
