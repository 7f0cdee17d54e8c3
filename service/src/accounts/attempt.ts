import type { Contact } from 'countersign/protocol'
import type { Application } from '../application.js'
import { type Queries, queryOne, type Store } from '../store/store.js'
import type { AccountRow } from './account.js'
import type { AttemptParameters, AttemptStatement } from './attempt-statement.js'

// More failures than any account records.
const NEVER = 1_000

/** An attempt to prove possession of a factor. */
export interface Attempt {
  readonly account: string
  /** The factor whose code was typed, such as `APP` or `PHONE:+447700900123`. */
  readonly factor: string
  /** The caller's name for the transaction; a valid code forgives its failures that belong to no challenge (R25). */
  readonly transaction: string | undefined
  /** Recorded as a proven contact of the account when the code is valid. */
  readonly proven?: { readonly contact: Contact; readonly locale: string | undefined }
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
  /** The challenge whose code was evaluated; `null` when none was. */
  readonly challenge: string | null
  /** When this attempt locked the account: until when. */
  readonly locks_until: number | null
}

/**
 * Makes an attempt by a statement of `attemptStatement`; `undefined` when the account is unknown. It takes one
 * statement, unless an account notice may be due: then attempt and notice share a transaction, so that neither a crash
 * nor an error leaves one without the other.
 */
export async function makeAttempt<Own>(
  store: Store,
  { text, values }: AttemptStatement<Own>,
  application: Application,
  attempt: Attempt,
  now: number,
  own: Own,
): Promise<AttemptResult | undefined> {
  const { limits } = application
  const { account, factor, transaction, proven, notifiesOnSuccess = false } = attempt
  const contact = proven?.contact
  const parameters: Omit<AttemptParameters, 'deferredFrom'> = {
    application: application.id,
    account,
    factor,
    now,
    failuresBeforeDisable: limits.failuresBeforeDisable,
    failuresBeforeLock: limits.failuresBeforeLock,
    lockMs: limits.lockDurationMs,
    transactionScope: transaction === undefined ? null : `transaction:${transaction}`,
    provenEmail: contact && contact.kind !== 'phone' ? contact.email : null,
    provenPhone: contact && contact.kind !== 'email' ? contact.phone : null,
    locale: proven?.locale ?? null,
  }
  // Object.assign, because V8 takes twenty times as long to spread two objects into one literal.
  const run = (queries: Queries, deferredFrom: number) =>
    queryOne<AttemptResult>(queries, text, values(Object.assign({ deferredFrom }, parameters, own)))
  const result = await run(store, notifiesOnSuccess ? 0 : limits.failuresBeforeLock - 1)
  if (!result?.deferred) return result
  return store.transaction(async (tx) => {
    const final = await run(tx, NEVER)
    if (final) await attempt.notify(tx, final)
    return final
  })
}
