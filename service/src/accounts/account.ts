import type { Application } from '../application.js'
import { secondsUntil } from '../seconds-until.js'
import { statement } from '../store/statement.js'
import { type Queries, queryOne } from '../store/store.js'

/** The stored state of an account. Times in milliseconds since 1970. */
export interface AccountRow {
  readonly account: string
  readonly locked_until: number
  readonly proven_email: string | null
  readonly proven_phone: string | null
  readonly locale: string | null
}

/** The failures of a factor that an operator disabled: more than any limit allows. */
export const DISABLED_BY_OPERATOR = 1_000_000

/** Locks the accounts in `source (account)`, in the order of their names, creates those that are missing, and returns them. */
export const lockAccounts = (source: string): string => `INSERT INTO account (application, account)
    SELECT :application, account FROM ${source} ORDER BY account
    ON CONFLICT (application, account) DO UPDATE SET account = EXCLUDED.account
    RETURNING account, locked_until, proven_email, proven_phone, locale`

const LOCK_ACCOUNT = statement<{ application: string; account: string }>(
  lockAccounts('(SELECT :account::text AS account) AS wanted'),
)

/**
 * Locks the account's row until the transaction ends, and creates it if necessary. Every other change to the same
 * account waits, in every process.
 */
export async function holdAccount(
  tx: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<AccountRow> {
  const { text, values } = LOCK_ACCOUNT
  const row = await queryOne<AccountRow>(tx, text, values({ application: application.id, account }))
  if (!row) throw new Error('The store returned no row for an account.')
  return row
}

/** The account's row, which is not locked; `undefined` when the account is unknown. */
export function findAccount(
  queries: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<AccountRow | undefined> {
  return queryOne<AccountRow>(
    queries,
    `SELECT account, locked_until, proven_email, proven_phone, locale FROM account
     WHERE application = $1 AND account = $2`,
    [application.id, account],
  )
}

/** Forgets a factor that was removed: its failures, and when it was last used. */
export async function forgetFactor(
  tx: Queries,
  application: Pick<Application, 'id'>,
  account: string,
  factor: string,
): Promise<void> {
  const key = [application.id, account, factor]
  await tx.query('DELETE FROM factor WHERE application = $1 AND account = $2 AND factor = $3', key)
  await tx.query('UPDATE account SET used = used - $3 WHERE application = $1 AND account = $2', key)
}

/** Seconds until the account is unlocked; 0 when it is not locked. */
export function lockedForSeconds(row: Pick<AccountRow, 'locked_until'>, now: number): number {
  return secondsUntil(row.locked_until, now)
}
