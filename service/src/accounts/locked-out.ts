import type { KeyMethod } from 'countersign/protocol'
import type { Application } from '../application.js'
import { type Queries, queryOne } from '../store/store.js'

/** How many accounts with a kind of key are looked at. Large applications get a lower bound instead of a long statement. */
const MAX_SEEN = 10_000

/** How many accounts have nothing but keys that cannot be used, among those with one kind of key. */
export interface LockedOut {
  readonly method: KeyMethod
  readonly users: number
  /** Whether there may be more, since only the first 10,000 accounts with this kind of key were looked at. */
  readonly mayBeMore: boolean
}

/**
 * Counts the accounts of an application whose keys are all of these kinds, and who have neither a confirmed authenticator app nor a
 * backup code. Contacts do not count: they belong to the app that asks. An account with keys of two kinds counts in both.
 * `among`: the kinds of keys that are counted. Defaults to all of them.
 */
export async function countLockedOut(
  queries: Queries,
  { id }: Pick<Application, 'id'>,
  withheld: readonly KeyMethod[],
  among: readonly KeyMethod[] = withheld,
): Promise<readonly LockedOut[]> {
  const counted: LockedOut[] = []
  for (const method of among) {
    const row = await queryOne<{ seen: number; users: number }>(
      queries,
      `SELECT count(*)::integer AS seen, (count(*) FILTER (WHERE NOT other))::integer AS users FROM (
         SELECT EXISTS (
             SELECT FROM account_key AS key WHERE key.application = $1 AND key.account = found.account
               AND key.method <> ALL($3)
           ) OR EXISTS (
             SELECT FROM app_secret AS app WHERE app.application = $1 AND app.account = found.account
               AND app.sealed IS NOT NULL
           ) OR EXISTS (
             SELECT FROM backup_code AS code WHERE code.application = $1 AND code.account = found.account
           ) AS other
         FROM (
           SELECT DISTINCT account FROM account_key WHERE application = $1 AND method = $2
           ORDER BY account LIMIT ${MAX_SEEN + 1}
         ) AS found
       ) AS judged`,
      [id, method, withheld],
    )
    const { seen = 0, users = 0 } = row ?? {}
    const mayBeMore = seen > MAX_SEEN
    if (users > 0 || mayBeMore) counted.push({ method, users, mayBeMore })
  }
  return counted
}
