import type { Contact } from 'countersign/protocol'
import { perStore, runTogether, SHARED_STATEMENTS } from '../store/run-together.js'
import { type ContactHashes, type Keys, listKeys } from '../store/secrets/keys.js'
import type { Queries, Store } from '../store/store.js'
import type { AccountRow } from './account.js'
import type { Application } from './application.js'
import {
  type AttemptFields,
  type AttemptStatement,
  attemptStatement,
  matchAccountSql,
} from './attempt-statement.js'
import { computeMac, isActive, matchOwnerSql, type Owner, ownerParameters } from './challenge.js'

/** An attempt to prove possession of a factor. */
export interface Attempt {
  readonly account: string
  /** The factor whose code was typed, such as `APP` or `PHONE:+447700900123`. */
  readonly factor: string
  /** The caller's name for the transaction; a valid code forgives its failures that belong to no challenge (R25). */
  readonly transaction: string | undefined
  /** Recorded as a proven contact of the account when the code is valid. */
  readonly proven?: {
    readonly contact: Contact
    readonly hashes: ContactHashes
    readonly locale: string | undefined
  }
  /** Whether a notice is also sent after a valid code, and not only when a wrong one locks the account. */
  readonly notifiesOnSuccess?: boolean
  /** Writes the account notice of the result, in the transaction of the attempt. */
  notify(tx: Queries, result: AttemptResult): Promise<void>
}

/** The result of an attempt, and the account as it was found. */
export interface AttemptResult extends Omit<AccountRow, 'account'> {
  /** Nothing was evaluated, because the account is locked. */
  readonly locked: boolean
  /** Nothing was evaluated, because a notice may be due; the attempt must be repeated in a transaction. */
  readonly deferred: boolean
  /** The factor has reached its limit of failures (R26). */
  readonly disabled: boolean
  /** Whether the code was valid; `null` when nothing was evaluated. */
  readonly ok: boolean | null
  readonly challenge: string | null
  /** When this attempt locked the account: until when. */
  readonly locks_until: number | null
}

interface PreparedAttempt {
  readonly application: Application
  readonly statement: AttemptStatement<object>
  readonly fields: AttemptFields
}

const attemptsOf = perStore((store) =>
  runTogether((attempts: readonly PreparedAttempt[]) => evaluate(store, attempts), {
    // With the limits, because they may have changed between two requests.
    sharingOf: ({ application: { id, limits }, statement, fields: { account } }) => ({
      group: [
        statement.name,
        id,
        limits.failuresBeforeDisable,
        limits.failuresBeforeLock,
        limits.lockDurationMs,
      ].join(' '),
      owner: `${id} ${account}`,
      keys: [],
    }),
    ...SHARED_STATEMENTS,
  }),
)

/** Runs attempts of one application by one statement. */
async function evaluate(queries: Queries, attempts: readonly PreparedAttempt[]) {
  const { application, statement } = attempts[0] as PreparedAttempt
  const { limits } = application
  const rows = await statement.rows<AttemptResult & { nr: number }>(queries, {
    application: application.id,
    attempts: JSON.stringify(attempts.map(({ fields }, nr) => ({ nr, ...fields }))),
    failuresBeforeDisable: limits.failuresBeforeDisable,
    failuresBeforeLock: limits.failuresBeforeLock,
    lockMs: limits.lockDurationMs,
  })
  return attempts.map((_, nr) => rows.find((row) => row.nr === nr))
}

/** Makes an attempt of this kind; `undefined` when the account is unknown. */
export type MakeAttempt<Typed, Result = AttemptResult | undefined> = (
  parts: { readonly store: Store; readonly keys: Keys },
  application: Application,
  attempt: Attempt,
  now: number,
  typed: Typed,
) => Promise<Result>

/**
 * Makes an attempt by a statement of `attemptStatement`; `undefined` when the account is unknown. It takes one statement, unless an
 * account notice may be due: then attempt and notice share a transaction, so that neither a crash nor an error leaves one without
 * the other. Attempts on other accounts that are made at the same time share the statement.
 */
export async function makeAttempt<Own extends object>(
  store: Store,
  statement: AttemptStatement<Own>,
  application: Application,
  attempt: Attempt,
  now: number,
  own: Own,
): Promise<AttemptResult | undefined> {
  const { account, factor, transaction, proven, notifiesOnSuccess = false } = attempt
  const contact = proven?.contact
  const prepare = (defers: boolean): PreparedAttempt => ({
    application,
    statement,
    // Object.assign, because V8 takes twenty times as long to spread two objects into one literal.
    fields: Object.assign(
      {
        now,
        account,
        factor,
        transaction_scope: transaction === undefined ? null : `transaction:${transaction}`,
        new_email: contact && contact.kind !== 'phone' ? contact.email : null,
        new_phone: contact && contact.kind !== 'email' ? contact.phone : null,
        new_email_hash: proven?.hashes.email ?? null,
        new_phone_hash: proven?.hashes.phone ?? null,
        new_locale: proven?.locale ?? null,
        defers,
        notifies: notifiesOnSuccess,
      },
      own,
    ),
  })
  const result = await attemptsOf(store)(prepare(true))
  if (!result?.deferred) return result
  return store.transaction(async (tx) => {
    const [final] = await evaluate(tx, [prepare(false)])
    if (final) await attempt.notify(tx, final)
    return final
  })
}

const FIELDS = 'contact text, type text, transaction text, macs text[], always_valid boolean'
const IS_VALID = '(challenge.code_mac = ANY (gate.macs) OR gate.always_valid)'

// One step counts the attempt and compares the code, so that no burst is evaluated more often than it is counted
// (R22). SQL may compare MACs: how far two of them agree says nothing about the code (R90).
const evaluation = (id: string) => `evaluated AS (
    UPDATE challenge SET attempts = attempts + 1, ended_at = CASE WHEN ${IS_VALID} THEN gate.now END
    FROM gate
    WHERE gate.open AND (NOT gate.disabled OR purpose = 'enrollment') AND ${matchAccountSql('challenge', 'gate')}
      AND ${matchOwnerSql('gate')} AND ${isActive('gate.now')} AND challenge.id = ${id}
    RETURNING gate.nr, ${IS_VALID} AS ok, challenge.id AS challenge, purpose = 'enrollment' AS rebound
  )`
const EVALUATE_BY_ID = attemptStatement(
  'code',
  `${FIELDS}, challenge_id text`,
  evaluation('gate.challenge_id'),
)
const NEWEST = `(
      SELECT newest.id FROM challenge AS newest
      WHERE newest.application = :application AND newest.account = gate.account AND ${matchOwnerSql('gate', 'newest')}
        AND ${isActive('gate.now', 'newest')}
      ORDER BY created_at DESC LIMIT 1
    )`
const EVALUATE_NEWEST = attemptStatement('newest-code', FIELDS, evaluation(NEWEST))

/** Makes an attempt with a delivered code: for this challenge, or else the newest active one, provided that it belongs to the owner (R38). */
export const attemptDeliveredCode: MakeAttempt<{
  readonly owner: Owner
  readonly code: string
  readonly challenge: string | undefined
  /** The code of test keys that is valid for every active challenge. */
  readonly alwaysValid: boolean
}> = ({ store, keys }, application, attempt, now, { owner, code, challenge: id, alwaysValid }) => {
  const { contact, type, transaction } = ownerParameters(application, owner)
  const macs = listKeys(keys).map((key) => computeMac(key, application, owner, code))
  const own = { contact, type, transaction, macs, always_valid: alwaysValid }
  return id === undefined
    ? makeAttempt(store, EVALUATE_NEWEST, application, attempt, now, own)
    : makeAttempt(store, EVALUATE_BY_ID, application, attempt, now, { ...own, challenge_id: id })
}

/** The result of an assertion for the key that it names. */
export interface KeyUse {
  readonly key: string
  /** Whether everything but the signature counter is right. */
  readonly verified: boolean
  readonly counter: number
  /** Whether a counter that went back is accepted. */
  readonly acceptsAnyCounter: boolean
  readonly backedUp: boolean
  /** The test key, which is valid for every account of test API keys and is not stored. */
  readonly isTestKey: boolean
}

// WebAuthn §7.2: a counter of 0 on both sides says that the key does not count. Otherwise it must have grown.
const EVALUATE_KEY = attemptStatement(
  'key',
  'key text, verified boolean, counter bigint, any_counter boolean, backed_up boolean, is_test_key boolean',
  `used_key AS (
    UPDATE account_key SET counter = greatest(account_key.counter, gate.counter), backed_up = gate.backed_up,
      last_used_at = gate.now
    FROM gate
    WHERE gate.open AND NOT gate.disabled AND gate.verified AND ${matchAccountSql('account_key', 'gate')}
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
export const attemptKey: MakeAttempt<KeyUse> = ({ store }, application, attempt, now, use) => {
  const { key, verified, counter } = use
  return makeAttempt(store, EVALUATE_KEY, application, attempt, now, {
    ...{ key, verified, counter },
    any_counter: use.acceptsAnyCounter,
    backed_up: use.backedUp,
    is_test_key: use.isTestKey,
  })
}
