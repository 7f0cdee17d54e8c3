import type { Application } from '../application.js'
import type { Store } from '../store/store.js'
import { type Attempt, type AttemptResult, makeAttempt } from './attempt.js'
import { attemptStatement, ofAccount } from './attempt-statement.js'

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

interface Fields {
  readonly key: string
  readonly verified: boolean
  readonly counter: number
  readonly any_counter: boolean
  readonly backed_up: boolean
  readonly is_test_key: boolean
}

// WebAuthn §7.2: a counter of 0 on both sides says that the key does not count. Otherwise it must have grown.
const EVALUATE_KEY = attemptStatement<Fields>(
  'key',
  'key text, verified boolean, counter bigint, any_counter boolean, backed_up boolean, is_test_key boolean',
  `used_key AS (
    UPDATE account_key SET counter = greatest(account_key.counter, gate.counter), backed_up = gate.backed_up,
      last_used_at = gate.now
    FROM gate
    WHERE gate.open AND NOT gate.disabled AND gate.verified AND ${ofAccount('account_key', 'gate')}
      AND account_key.id = gate.key
      AND (account_key.counter < gate.counter OR account_key.counter = 0 AND gate.counter = 0 OR gate.any_counter)
    RETURNING gate.nr
  ), evaluated AS (
    SELECT nr, EXISTS (SELECT FROM used_key WHERE used_key.nr = gate.nr) OR gate.verified AND gate.is_test_key AS ok,
      NULL::text AS challenge, false AS rebound
    FROM gate WHERE gate.open AND NOT gate.disabled
  )`,
)

/** Counts an attempt with a key. If it is right, the signature counter, the backup state and the last use are stored. */
export function attemptKey(
  store: Store,
  application: Application,
  attempt: Attempt,
  now: number,
  use: KeyUse,
): Promise<AttemptResult | undefined> {
  const { key, verified, counter } = use
  return makeAttempt(store, EVALUATE_KEY, application, attempt, now, {
    ...{ key, verified, counter },
    any_counter: use.acceptsAnyCounter,
    backed_up: use.backedUp,
    is_test_key: use.isTestKey,
  })
}
