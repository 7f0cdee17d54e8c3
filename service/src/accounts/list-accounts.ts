import type { Application } from '../application.js'
import type { Queries } from '../store/store.js'

/** An account in a list. */
export interface ListedAccount {
  /** As rows name it. */
  readonly account: string
  readonly proven_email: string | null
  readonly proven_phone: string | null
  readonly locked_until: number
  /** Whether a confirmed authenticator app is set up. */
  readonly app: boolean
  /** The number of backup codes that were not used. */
  readonly backup_codes: number
  /** The number of security keys and passkeys. */
  readonly keys: number
}

/** The accounts of an application after the account `after`, in the order of their primary key. */
export function listAccounts(
  queries: Queries,
  application: Pick<Application, 'id'>,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ListedAccount[]> {
  return queries.query<ListedAccount>(
    `SELECT account, proven_email, proven_phone, locked_until,
       EXISTS (SELECT FROM app_secret AS app WHERE app.application = listed.application
         AND app.account = listed.account AND app.sealed IS NOT NULL) AS app,
       (SELECT count(*)::integer FROM account_key AS key WHERE key.application = listed.application
         AND key.account = listed.account) AS keys,
       (SELECT count(*)::integer FROM backup_code AS code JOIN backup_set AS active USING (application, account, salt)
         WHERE active.application = listed.application AND active.account = listed.account) AS backup_codes
     FROM account AS listed WHERE application = $1 AND account > $2 ORDER BY account LIMIT $3`,
    [application.id, after, limit],
  )
}
