import type { Application } from '../application.js'
import { allKeys, type Keys } from '../secrets/keys.js'
import type { Store } from '../store/store.js'
import { type Attempt, type AttemptResult, makeAttempt } from './attempt.js'
import { attemptStatement, ofAccount } from './attempt-statement.js'
import { belongsTo, isActive, macOf, type Owner, ownerParameters } from './challenge.js'

interface CodeFields {
  readonly contact: string
  readonly type: string
  readonly transaction: string
  readonly macs: readonly string[]
  readonly always_valid: boolean
}

const FIELDS = 'contact text, type text, transaction text, macs text[], always_valid boolean'
const IS_VALID = '(challenge.code_mac = ANY (gate.macs) OR gate.always_valid)'

// One step counts the attempt and compares the code, so that no burst is evaluated more often than it is counted
// (R22). SQL may compare MACs: how far two of them agree says nothing about the code (R90).
const evaluation = (id: string) => `evaluated AS (
    UPDATE challenge SET attempts = attempts + 1, ended_at = CASE WHEN ${IS_VALID} THEN gate.now END
    FROM gate
    WHERE gate.open AND (NOT gate.disabled OR purpose = 'enrollment') AND ${ofAccount('challenge', 'gate')}
      AND ${belongsTo('gate')} AND ${isActive('gate.now')} AND challenge.id = ${id}
    RETURNING gate.nr, ${IS_VALID} AS ok, challenge.id AS challenge, purpose = 'enrollment' AS rebound
  )`
const EVALUATE_BY_ID = attemptStatement<CodeFields & { challenge_id: string }>(
  'code',
  `${FIELDS}, challenge_id text`,
  evaluation('gate.challenge_id'),
)
const NEWEST = `(
      SELECT newest.id FROM challenge AS newest
      WHERE newest.application = :application AND newest.account = gate.account AND ${belongsTo('gate', 'newest')}
        AND ${isActive('gate.now', 'newest')}
      ORDER BY created_at DESC LIMIT 1
    )`
const EVALUATE_NEWEST = attemptStatement<CodeFields>('newest-code', FIELDS, evaluation(NEWEST))

/**
 * Makes an attempt with a delivered code, in one statement: for the challenge with this id, or for the newest active
 * one if no id is given, provided that it belongs to the owner (R38).
 */
export function attemptDeliveredCode(
  parts: { readonly store: Store; readonly keys: Keys },
  application: Application,
  owner: Owner,
  typed: {
    readonly code: string
    readonly challenge: string | undefined
    /** The code of test keys that is valid for every active challenge. */
    readonly alwaysValid: boolean
  },
  attempt: Attempt,
  now: number,
): Promise<AttemptResult | undefined> {
  const { store, keys } = parts
  const { contact, type, transaction } = ownerParameters(application, owner)
  const macs = allKeys(keys).map((key) => macOf(key, application, owner, typed.code))
  const own = { contact, type, transaction, macs, always_valid: typed.alwaysValid }
  if (typed.challenge === undefined) {
    return makeAttempt(store, EVALUATE_NEWEST, application, attempt, now, own)
  }
  return makeAttempt(store, EVALUATE_BY_ID, application, attempt, now, {
    ...own,
    challenge_id: typed.challenge,
  })
}
