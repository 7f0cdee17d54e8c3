import type { Application } from '../application.js'
import { one, type Queries } from '../store/store.js'
import type { AccountRow } from './account.js'

/** Whether the factor has used up its guesses and must be bound again (R26). */
export async function isDisabled(
  tx: Queries,
  application: Application,
  account: AccountRow,
  factor: string,
): Promise<boolean> {
  const row = await one<{ failures: number }>(
    tx,
    'SELECT failures FROM factor WHERE application = $1 AND account = $2 AND factor = $3',
    [application.id, account.account, factor],
  )
  return (row?.failures ?? 0) >= application.limits.disableAfter
}

/** A factor that has been bound again starts with a clean count (R26). */
export async function resetFactor(
  tx: Queries,
  application: Application,
  account: AccountRow,
  factor: string,
): Promise<void> {
  await tx.query('DELETE FROM factor WHERE application = $1 AND account = $2 AND factor = $3', [
    application.id,
    account.account,
    factor,
  ])
}
