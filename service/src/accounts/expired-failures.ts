import type { Transactions } from '../store/store.js'
import { DISABLED_BY_OPERATOR } from './account.js'
import { APP_FACTOR } from './app-secret.js'
import { BACKUP_FACTOR } from './backup-set.js'

type Row = { readonly application: string; readonly account: string }

const isOneOf = (table: string) =>
  `(${table}.application, ${table}.account) IN (SELECT * FROM unnest($1::text[], $2::text[]))`

const hasNo = (table: string, when = 'true') => `NOT EXISTS (SELECT FROM ${table} AS own
    WHERE own.application = account.application AND own.account = account.account AND ${when})`

// An account that ever received a code stays, with its count of failures (R26).
const UNKNOWN = `locked_until < $3 AND proven_email IS NULL AND proven_phone IS NULL
  AND ${hasNo('app_secret')} AND ${hasNo('backup_set')} AND ${hasNo('challenge')}
  AND ${hasNo('factor', 'own.factor NOT IN ($4, $5) OR own.failures >= $6')}`

/**
 * Forgets the failures of accounts whose latest one was before this time. Deletes accounts that are known for nothing but
 * wrong codes of an authenticator app or of backup codes that they never had, so that codes typed for unknown users leave
 * nothing. Resolves to the accounts that it dealt with, at most `limit`.
 */
export function forgetFailures(
  store: Transactions,
  before: number,
  limit: number,
): Promise<readonly unknown[]> {
  return store.transaction(async (tx) => {
    const rows = await tx.query<Row>(
      // An index finds accounts by the time of their latest failure.
      `SELECT application, account FROM account
       WHERE failures <> '[]' AND (failures -> -1 ->> 'at')::bigint < $1
       ORDER BY (failures -> -1 ->> 'at')::bigint LIMIT $2 FOR UPDATE SKIP LOCKED`,
      [before, limit],
    )
    if (rows.length === 0) return rows
    const unknown = await tx.query<Row>(
      `DELETE FROM account WHERE ${isOneOf('account')} AND ${UNKNOWN} RETURNING application, account`,
      [...columns(rows), before, APP_FACTOR, BACKUP_FACTOR, DISABLED_BY_OPERATOR],
    )
    if (unknown.length > 0) await tx.query(`DELETE FROM factor WHERE ${isOneOf('factor')}`, columns(unknown))
    await tx.query(`UPDATE account SET failures = '[]' WHERE ${isOneOf('account')}`, columns(rows))
    return rows
  })
}

function columns(rows: readonly Row[]): [string[], string[]] {
  return [rows.map(({ application }) => application), rows.map(({ account }) => account)]
}
