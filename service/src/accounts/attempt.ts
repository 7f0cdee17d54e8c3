import type { Contact } from 'countersign/protocol'
import type { Application } from '../application.js'
import { perStore, runTogether, SHARED_STATEMENTS } from '../store/run-together.js'
import type { Queries, Store } from '../store/store.js'
import type { AccountRow } from './account.js'
import type { AttemptFields, AttemptStatement } from './attempt-statement.js'

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

/** An attempt, ready to be made. */
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
async function evaluate(
  queries: Queries,
  attempts: readonly PreparedAttempt[],
): Promise<(AttemptResult | undefined)[]> {
  const { application, statement } = attempts[0] as PreparedAttempt
  const { limits } = application
  const rows = await queries.query<AttemptResult & { nr: number }>(
    statement.text,
    statement.values({
      application: application.id,
      attempts: JSON.stringify(attempts.map(({ fields }, nr) => ({ nr, ...fields }))),
      accounts: attempts.map(({ fields: { account } }) => account),
      failuresBeforeDisable: limits.failuresBeforeDisable,
      failuresBeforeLock: limits.failuresBeforeLock,
      lockMs: limits.lockDurationMs,
    }),
  )
  return attempts.map((_, nr) => rows.find((row) => row.nr === nr))
}

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
  const prepared = (deferred_from: number): PreparedAttempt => ({
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
        new_locale: proven?.locale ?? null,
        deferred_from,
      },
      own,
    ),
  })
  const deferredFrom = notifiesOnSuccess ? 0 : application.limits.failuresBeforeLock - 1
  const result = await attemptsOf(store)(prepared(deferredFrom))
  if (!result?.deferred) return result
  return store.transaction(async (tx) => {
    const [final] = await evaluate(tx, [prepared(NEVER)])
    if (final) await attempt.notify(tx, final)
    return final
  })
}
