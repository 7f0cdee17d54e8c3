import type { Application } from '../application.js'
import { one, type Queries } from '../store/store.js'

/** What is remembered of an account. Times in milliseconds since 1970. */
export interface AccountRow {
  readonly account: string
  readonly locked_until: number
  readonly proven_email: string | null
  readonly proven_phone: string | null
  readonly locale: string | null
}

const HOLD = `INSERT INTO account (application, account) VALUES ($1, $2)
  ON CONFLICT (application, account) DO UPDATE SET account = EXCLUDED.account
  RETURNING account, locked_until, proven_email, proven_phone, locale`

/**
 * The account's row, made if need be and held until the transaction ends: whatever else is done to one account
 * waits its turn, in every process.
 */
export async function holdAccount(
  tx: Queries,
  application: Application,
  account: string,
): Promise<AccountRow> {
  const row = await one<AccountRow>(tx, HOLD, [application.id, account])
  if (!row) throw new Error('The store returned no row for an account.')
  return row
}

/** `holdAccount`, and whether one of its factors has used up its guesses and must be bound again (R26). */
export async function holdAccountAndFactor(
  tx: Queries,
  application: Application,
  account: string,
  factor: string,
): Promise<AccountRow & { readonly disabled: boolean }> {
  const row = await one<AccountRow & { readonly disabled: boolean }>(
    tx,
    `WITH held AS (${HOLD})
     SELECT held.*, EXISTS (SELECT FROM factor
       WHERE application = $1 AND factor.account = $2 AND factor = $3 AND failures >= $4::integer) AS disabled
     FROM held`,
    [application.id, account, factor, application.limits.disableAfter],
  )
  if (!row) throw new Error('The store returned no row for an account.')
  return row
}

/** Seconds until the account's lock lifts; 0 when it is not locked. */
export function lockedForSeconds(row: Pick<AccountRow, 'locked_until'>, now: number): number {
  return row.locked_until > now ? Math.ceil((row.locked_until - now) / 1000) : 0
}
