import type { AccountFactors } from 'countersign/protocol'
import type { Application } from '../application.js'
import { queryOne, type Store } from '../store/store.js'
import { activateWaitingSet } from './backup-set.js'

/**
 * The confirmed authenticator app of an account, and the number of its unused backup codes that are valid for the contact.
 * An unknown account has neither, and stays unknown.
 */
export async function readAccountFactors(
  store: Store,
  application: Pick<Application, 'id'>,
  { account, canonicalContact }: { readonly account: string; readonly canonicalContact: string },
): Promise<AccountFactors> {
  const read = () =>
    queryOne<{ app: boolean; codes: number; waits: boolean }>(
      store,
      `SELECT
         EXISTS (
           SELECT FROM app_secret WHERE application = $1 AND account = $2 AND sealed IS NOT NULL) AS app,
         (SELECT count(*)::integer FROM backup_code JOIN backup_set USING (application, account, salt)
           WHERE application = $1 AND account = $2 AND contact = $3) AS codes,
         EXISTS (
           SELECT FROM backup_set WHERE application = $1 AND account = $2 AND waiting_letters IS NOT NULL) AS waits`,
      [application.id, account, canonicalContact],
    )
  const found = await read()
  // The messages with a new set may have been delivered since; then its codes are the valid ones.
  const activated = found?.waits === true && (await activateWaitingSet(store, application, account))
  const { app = false, codes = 0 } = (activated ? await read() : found) ?? {}
  return { app, backupCodesLeft: codes }
}
