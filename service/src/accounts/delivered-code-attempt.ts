import type { Application } from '../application.js'
import { allKeys, type Keys } from '../secrets/keys.js'
import type { Store } from '../store/store.js'
import { type Attempt, type AttemptResult, makeAttempt } from './attempt.js'
import { attemptStatement } from './attempt-statement.js'
import { ACTIVE, macOf, type Owner, type OwnerParameters, ownerParameters } from './challenge.js'

interface CodeParameters extends Omit<OwnerParameters, 'application' | 'account'> {
  readonly macs: readonly string[]
  readonly alwaysValid: boolean
}

const IS_VALID = '(code_mac = ANY (:macs::text[]) OR :alwaysValid::boolean)'

// One step counts the attempt and compares the code, so that no burst is evaluated more often than it is counted
// (R22). SQL may compare MACs: how far two of them agree says nothing about the code (R90).
const evaluation = (id: string) => `evaluated AS (
    UPDATE challenge SET attempts = attempts + 1, ended_at = CASE WHEN ${IS_VALID} THEN :now::bigint END
    FROM gate
    WHERE gate.open AND (NOT gate.disabled OR purpose = 'enrollment') AND ${ACTIVE} AND id = ${id}
    RETURNING ${IS_VALID} AS ok, id AS challenge, purpose = 'enrollment' AS rebound
  )`
const EVALUATE_BY_ID = attemptStatement<CodeParameters & { id: string }>(evaluation(':id'))
const EVALUATE_NEWEST = attemptStatement<CodeParameters>(
  evaluation(`(SELECT id FROM challenge WHERE ${ACTIVE} ORDER BY created_at DESC LIMIT 1)`),
)

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
  const own = { contact, type, transaction, macs, alwaysValid: typed.alwaysValid }
  if (typed.challenge === undefined) {
    return makeAttempt(store, EVALUATE_NEWEST, application, attempt, now, own)
  }
  return makeAttempt(store, EVALUATE_BY_ID, application, attempt, now, { ...own, id: typed.challenge })
}
