import { writeEventsSql } from '../messages/events/write-events.js'
import type { Partition } from '../store/partition.js'
import { createStoredReference, type Keys } from '../store/secrets/keys.js'
import { createStatement, type Queries } from '../store/store.js'
import { lockAccounts } from './account.js'
import { APP_FACTOR } from './app-secret.js'

/** The factors of an account before an import. */
export interface FactorsBefore {
  readonly account: string
  /** The confirmed secret, still sealed; `null` without one. */
  readonly sealed: string | null
  /** Whether it has backup codes, even used or waiting ones. */
  readonly codes: boolean
}

/** The factors that an account gets. */
export interface NewFactors {
  readonly account: string
  /** The sealed secret; `null` if the account has it already. */
  readonly sealed: string | null
  readonly weak: boolean
  readonly digits: number
  /** Salt and keyed hashes of backup codes; `null` and none if there are no new ones. */
  readonly salt: string | null
  readonly macs: readonly string[]
}

const LOCK = createStatement<{
  application: string
  accounts: readonly string[]
  references: readonly string[]
}>(lockAccounts('unnest(:accounts::text[], :references::text[]) AS wanted (account, reference)'))

/** Locks different accounts until the transaction ends, and creates those that are missing. */
export async function holdAccounts(
  keys: Keys,
  tx: Queries,
  { id: application }: Partition,
  accounts: readonly string[],
): Promise<void> {
  const references = accounts.map((account) => createStoredReference(keys, application, account))
  await LOCK.rows(tx, { application, accounts, references })
}

/** The factors of the accounts that have an app or backup codes. */
export function findFactorsBefore(
  queries: Queries,
  { id }: Partition,
  accounts: readonly string[],
): Promise<FactorsBefore[]> {
  return queries.query<FactorsBefore>(
    `SELECT wanted.account, app.sealed, backup.account IS NOT NULL AS codes
     FROM unnest($2::text[]) AS wanted (account)
       LEFT JOIN app_secret AS app ON app.application = $1 AND app.account = wanted.account
       LEFT JOIN backup_set AS backup ON backup.application = $1 AND backup.account = wanted.account
     WHERE app.sealed IS NOT NULL OR backup.account IS NOT NULL`,
    [id, accounts],
  )
}

const IMPORT = createStatement<{ application: string; factors: string; data: string; now: number }>(
  `WITH wanted AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(:factors::jsonb) AS row (account text, sealed text, weak boolean, digits integer, salt text, macs jsonb)
  ), bound AS (
    INSERT INTO app_secret (application, account, sealed, weak, digits, bound_at)
    SELECT :application::text, account, sealed, weak, digits, :now::bigint FROM wanted WHERE sealed IS NOT NULL
    ON CONFLICT (application, account)
    DO UPDATE SET sealed = EXCLUDED.sealed, weak = EXCLUDED.weak, digits = EXCLUDED.digits, bound_at = EXCLUDED.bound_at
    WHERE app_secret.sealed IS NULL
    RETURNING account
  ), backed AS (
    INSERT INTO backup_set (application, account, salt, made_at)
    SELECT :application::text, account, salt, :now::bigint FROM wanted WHERE salt IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING account, salt
  ), codes AS (
    INSERT INTO backup_code (application, account, salt, mac)
    SELECT DISTINCT :application::text, account, backed.salt, mac
    FROM backed JOIN wanted USING (account), jsonb_array_elements_text(wanted.macs) AS mac
  ), ${writeEventsSql(
    `(SELECT :application::text AS application, account, 'factor.added' AS type, :data::jsonb AS data, :now::bigint AS at
      FROM bound)`,
  )}
  SELECT account FROM bound`,
)

/** Adds the factors in one statement, and counts the apps. What an account has by now stays as it is. The accounts must be locked. */
export async function importFactors(
  tx: Queries,
  { id }: Partition,
  factors: readonly NewFactors[],
  now: number,
): Promise<number> {
  const data = JSON.stringify({ factor: APP_FACTOR, by: 'operator' })
  const bound = await IMPORT.rows(tx, { application: id, factors: JSON.stringify(factors), data, now })
  return bound.length
}
