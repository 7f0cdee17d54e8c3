import type { Partition } from '../store/partition.js'
import { createStoredReference, type Keys } from '../store/secrets/keys.js'
import { createStatement, type Queries, queryOne } from '../store/store.js'
import { countSecondsUntil } from '../time.js'

/** Reads or changes what belongs to one account. */
export type OfAccount<Result, More extends readonly unknown[] = []> = (
  queries: Queries,
  application: Partition,
  account: string,
  ...more: More
) => Promise<Result>

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

/** Locks the accounts in `source (account, reference)` in the order of their names, creates those that are missing, and returns them. */
export const lockAccounts = (source: string): string => `INSERT INTO account (application, account, reference)
    SELECT :application, account, reference FROM ${source} ORDER BY account
    ON CONFLICT (application, account) DO UPDATE SET reference = EXCLUDED.reference
    RETURNING account, locked_until, proven_email, proven_phone, locale`

const LOCK_ACCOUNT = createStatement<{ application: string; account: string; reference: string }>(
  lockAccounts('(SELECT :account::text AS account, :reference::text AS reference) AS wanted'),
)

/** Locks the account's row until the transaction ends, and creates it if necessary. Every other change to the same account waits, in every process. */
export async function holdAccount(
  keys: Keys,
  tx: Queries,
  { id: application }: Partition,
  account: string,
): Promise<AccountRow> {
  const reference = createStoredReference(keys, application, account)
  const row = await LOCK_ACCOUNT.first<AccountRow>(tx, { application, account, reference })
  if (!row) throw new Error('The store returned no row for an account.')
  return row
}

/** The account's row, which is not locked; `undefined` when the account is unknown. */
export const findAccount: OfAccount<AccountRow | undefined> = (queries, application, account) => {
  return queryOne<AccountRow>(
    queries,
    `SELECT account, locked_until, proven_email, proven_phone, locale FROM account
     WHERE application = $1 AND account = $2`,
    [application.id, account],
  )
}

/** Forgets a factor that was removed: its failures, and when it was last used. */
export const forgetFactor: OfAccount<void, [factor: string]> = async (tx, application, account, factor) => {
  const key = [application.id, account, factor]
  await tx.query('DELETE FROM factor WHERE application = $1 AND account = $2 AND factor = $3', key)
  await tx.query('UPDATE account SET used = used - $3 WHERE application = $1 AND account = $2', key)
}

/** Seconds until the account is unlocked; 0 when it is not locked. */
export function countLockedSeconds(row: Pick<AccountRow, 'locked_until'>, now: number): number {
  return countSecondsUntil(row.locked_until, now)
}

const CONTACT_PREFIX = 'contact:'

/** The mailboxes and phone numbers of an account, in lower case as budgets name them: all that its rows and its own name contain. */
export const listDestinations: OfAccount<string[]> = async (queries, application, account) => {
  const rows = await queries.query<{ contact: string | null }>(
    `SELECT unnest(ARRAY[proven_email, proven_phone]) AS contact FROM account
       WHERE application = $1 AND account = $2
     UNION SELECT contact FROM challenge WHERE application = $1 AND account = $2
     UNION SELECT unnest(ARRAY[contact, waiting_contact]) FROM backup_set WHERE application = $1 AND account = $2
     UNION SELECT substr(factor, strpos(factor, ':') + 1) FROM factor
       WHERE application = $1 AND account = $2 AND strpos(factor, ':') > 0`,
    [application.id, account],
  )
  const own = account.startsWith(CONTACT_PREFIX) ? [account.slice(CONTACT_PREFIX.length)] : []
  const contacts = [...own, ...rows.flatMap(({ contact }) => contact ?? [])]
  // A DUAL contact is a mailbox and a number, separated by a colon, which neither contains.
  return [...new Set(contacts.flatMap((contact) => contact.toLowerCase().split(':')))]
}

/** An account in a list. */
export interface ListedAccount extends Omit<AccountRow, 'locale'> {
  /** Whether a confirmed authenticator app is set up. */
  readonly app: boolean
  readonly backup_codes: number
  readonly keys: number
}

/** The accounts of an application after the account `after`, in the order of their primary key. */
export function listAccounts(
  queries: Queries,
  application: Partition,
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
