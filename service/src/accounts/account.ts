import type { Application } from '../application.js'
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

/** Locks the row of `:account`, which is created if necessary, and returns it. */
export const LOCK_ROW = `INSERT INTO account (application, account) VALUES (:application, :account)
  ON CONFLICT (application, account) DO UPDATE SET account = EXCLUDED.account
  RETURNING account, locked_until, proven_email, proven_phone, locale`

/** Whether `:factor` reached its limit of failures. */
export const IS_DISABLED = `EXISTS (SELECT FROM factor
    WHERE application = :application AND factor.account = :account AND factor = :factor
      AND failures >= :failuresBeforeDisable::integer)`

const LOCK_ACCOUNT = statement<{ application: string; account: string }>(LOCK_ROW)

const LOCK_ACCOUNT_AND_READ_FACTOR = statement<{
  application: string
  account: string
  factor: string
  failuresBeforeDisable: number
}>(`WITH held AS (${LOCK_ROW})
  SELECT held.*, ${IS_DISABLED} AS disabled FROM held`)

/**
 * Locks the account's row until the transaction ends, and creates it if necessary. Every other change to the same
 * account waits, in every process.
 */
export async function holdAccount(
  tx: Queries,
  application: Application,
  account: string,
): Promise<AccountRow> {
  const { text, values } = LOCK_ACCOUNT
  const row = await queryOne<AccountRow>(tx, text, values({ application: application.id, account }))
  if (!row) throw new Error('The store returned no row for an account.')
  return row
}

/** `holdAccount`, and whether a factor reached its limit of failures and must be bound again (R26). */
export async function holdAccountAndFactor(
  tx: Queries,
  application: Application,
  account: string,
  factor: string,
): Promise<AccountRow & { readonly disabled: boolean }> {
  const { text, values } = LOCK_ACCOUNT_AND_READ_FACTOR
  const { failuresBeforeDisable } = application.limits
  const row = await queryOne<AccountRow & { readonly disabled: boolean }>(
    tx,
    text,
    values({ application: application.id, account, factor, failuresBeforeDisable }),
  )
  if (!row) throw new Error('The store returned no row for an account.')
  return row
}

/** Seconds until the account is unlocked; 0 when it is not locked. */
export function lockedForSeconds(row: Pick<AccountRow, 'locked_until'>, now: number): number {
  return row.locked_until > now ? Math.ceil((row.locked_until - now) / 1000) : 0
}
