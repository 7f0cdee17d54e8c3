import { type AnswerOf, KEY_METHODS, KEY_TYPE, type KeyMethod, VERIFY_TYPE } from 'countersign/protocol'
import type { Partition } from '../store/partition.js'
import { type Queries, queryOne, type Store } from '../store/store.js'
import type { KeptMethod } from './applications/offered-methods.js'
import { activateWaitingSet, BACKUP_FACTOR, IS_SHOWN_SET } from './backup-set.js'

const TYPES: readonly NonNullable<AnswerOf<'factorsOf'>['lastUsed']>[number]['type'][] = [
  ...Object.values(VERIFY_TYPE),
  ...Object.values(KEY_TYPE),
  BACKUP_FACTOR,
]

interface Row {
  /** How many digits the codes of the confirmed app have; `null` without one. */
  readonly digits: number | null
  readonly weak: boolean
  readonly keys: readonly KeyMethod[]
  readonly codes: number
  readonly shown: boolean
  readonly waits: boolean
  readonly used: Readonly<Record<string, number>>
}

/** The confirmed app, kinds of keys (R132), number of unused backup codes for the contact, and last uses; an unknown account has none. */
export async function readAccountFactors(
  store: Store,
  application: Partition,
  { account, canonicalContact }: { readonly account: string; readonly canonicalContact: string },
  usable: readonly KeptMethod[],
): Promise<AnswerOf<'factorsOf'>> {
  const read = () =>
    queryOne<Row>(
      store,
      `SELECT
         (SELECT digits FROM app_secret WHERE application = $1 AND account = $2 AND sealed IS NOT NULL) AS digits,
         EXISTS (SELECT FROM app_secret WHERE application = $1 AND account = $2 AND sealed IS NOT NULL AND weak) AS weak,
         ARRAY (SELECT DISTINCT method FROM account_key WHERE application = $1 AND account = $2) AS keys,
         (SELECT count(*)::integer FROM backup_code JOIN backup_set USING (application, account, salt)
           WHERE application = $1 AND account = $2 AND (contact = $3 OR ${IS_SHOWN_SET})) AS codes,
         EXISTS (SELECT FROM backup_set WHERE application = $1 AND account = $2 AND ${IS_SHOWN_SET}) AS shown,
         coalesce((SELECT used FROM account WHERE application = $1 AND account = $2), '{}') AS used,
         EXISTS (
           SELECT FROM backup_set WHERE application = $1 AND account = $2 AND waiting_messages IS NOT NULL) AS waits`,
      [application.id, account, canonicalContact],
    )
  const found = await read()
  // The messages with a new set may have been delivered since; then its codes are the valid ones.
  const activated = found?.waits === true && (await activateWaitingSet(store, application, account))
  const row = activated ? await read() : found
  return {
    existing: [
      ...(row?.digits
        ? [
            {
              method: 'app' as const,
              usable: usable.includes('app'),
              digits: row.digits,
              ...(row.weak && { weak: true as const }),
            },
          ]
        : []),
      ...KEY_METHODS.filter((method) => row?.keys.includes(method)).map((method) => ({
        method,
        usable: usable.includes(method),
      })),
    ],
    offeredKeys: KEY_METHODS.filter((method) => usable.includes(method)),
    backupCodesLeft: row?.codes ?? 0,
    ...(row?.shown && row.codes > 0 && { backupDelivery: 'page' }),
    lastUsed: Object.entries(row?.used ?? {}).flatMap(([factor, at]) => useOf(factor, at) ?? []),
  }
}

/** The use of a factor, whose name is a type or `<type>:<contact>`. */
function useOf(
  factor: string,
  at: number,
): NonNullable<AnswerOf<'factorsOf'>['lastUsed']>[number] | undefined {
  const colon = factor.indexOf(':')
  const name = colon < 0 ? factor : factor.slice(0, colon)
  const type = TYPES.find((known) => known === name)
  if (!type) return undefined
  return { type, ...(colon > 0 && { user: factor.slice(colon + 1) }), at }
}

/** How many accounts with one method are looked at. Large applications get a lower bound instead of a long statement. */
const MAX_SEEN = 10_000

/** How many accounts have nothing but factors that cannot be used, among those with one method. */
export interface LockedOut {
  readonly method: KeptMethod
  readonly users: number
  /** Whether there may be more, since only the first 10,000 accounts with this method were looked at. */
  readonly mayBeMore: boolean
}

const OWNERS_OF_KEYS = 'SELECT DISTINCT account FROM account_key WHERE application = $1 AND method = $2'
const OWNERS_OF_APPS = `SELECT account FROM app_secret WHERE application = $1 AND sealed IS NOT NULL AND $2 = 'app'`

/**
 * Counts accounts without backup codes whose app and keys are all of these methods, under each method that they have. Contacts do not count.
 * `among`: the methods that are counted. Defaults to all of them.
 */
export async function countLockedOut(
  queries: Queries,
  { id }: Partition,
  withheld: readonly KeptMethod[],
  among: readonly KeptMethod[] = withheld,
): Promise<readonly LockedOut[]> {
  const counted: LockedOut[] = []
  for (const method of among) {
    const [row] = await queries.query<{ seen: number; users: number }>(
      `SELECT count(*)::integer AS seen, (count(*) FILTER (WHERE NOT other))::integer AS users FROM (
         SELECT EXISTS (
             SELECT FROM account_key AS key WHERE key.application = $1 AND key.account = found.account
               AND key.method <> ALL($3)
           ) OR EXISTS (
             SELECT FROM app_secret AS app WHERE app.application = $1 AND app.account = found.account
               AND app.sealed IS NOT NULL AND 'app' <> ALL($3)
           ) OR EXISTS (
             SELECT FROM backup_code AS code WHERE code.application = $1 AND code.account = found.account
           ) AS other
         FROM (
           ${method === 'app' ? OWNERS_OF_APPS : OWNERS_OF_KEYS}
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
