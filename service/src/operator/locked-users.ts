import { type DataReference, getPartition } from '../store/partition.js'
import type { Store } from '../store/store.js'
import { mustExist } from './applications.js'
import type { Actor } from './audited-change.js'
import { changeRows } from './change-rows.js'
import { type Diagnostic, reportOn } from './diagnostic.js'
import { createUserReference, maskUser, type UserReference } from './users.js'

/** The accounts of an application that are locked now. */
export interface LockedUsers {
  /** How many there are; 10,000 stands for this many or more. */
  readonly count: number
  /** The first hundred, those whose lock ends first, each as it may be shown and with the end of the lock in milliseconds since 1970. */
  readonly users: readonly (UserReference & { readonly shown: string; readonly lockedUntil: number })[]
}

const MAX_COUNTED = 10_000
const MAX_LISTED = 100

// An index has the accounts that were ever locked.
const IS_LOCKED = 'application = $1 AND locked_until > 0 AND locked_until > $2'

/** Lists the locked users of an application. */
export async function listLocked({ store }: Actor, data: DataReference): Promise<LockedUsers> {
  await mustExist(store, data.application)
  const partition = getPartition(data)
  const [row] = await store.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM (SELECT FROM account WHERE ${IS_LOCKED} LIMIT ${MAX_COUNTED}) AS locked`,
    [partition, Date.now()],
  )
  const rows = await store.query<{ account: string; lockedUntil: number }>(
    `SELECT account, locked_until AS "lockedUntil" FROM account WHERE ${IS_LOCKED} ORDER BY locked_until LIMIT ${MAX_LISTED}`,
    [partition, Date.now()],
  )
  return {
    count: row?.count ?? 0,
    users: rows.map(({ account, lockedUntil }) => {
      const user = createUserReference(partition, account)
      return { ...user, shown: maskUser(user), lockedUntil }
    }),
  }
}

/** The statement that counts the live users locked at the time `now`, by application. */
export const countLockedSql = (now: string): string =>
  `SELECT application, count(*)::integer AS n FROM account JOIN application USING (application)
   WHERE locked_until > 0 AND locked_until > ${now} GROUP BY application ORDER BY application`

/** From how many on locked users are a sign of an attack, or of a wrong clock. */
const MANY_LOCKED = 50

/** Checks whether many users of an application are locked now. Reports nothing if there are none such. */
export async function diagnoseLocked(store: Store, now: number): Promise<Diagnostic[]> {
  const rows = await store.query<{ application: string; n: number }>(countLockedSql('$1'), [now])
  return rows.flatMap(({ application, n }) => {
    const message = `${n} users of "${application}" are locked by wrong codes: find out why before user unlock-all ${application} lifts the locks.`
    return n < MANY_LOCKED ? [] : reportOn('locked users').warning(message, { application })
  })
}

/** Lifts the locks that began by a time, at most 10,000. It forgives no failure (R25, R26). */
export async function unlockUsers(
  actor: Actor,
  users: DataReference & { readonly lockedBy: number; readonly reason?: string },
): Promise<number> {
  const { application, mode, lockedBy, reason } = users
  const unlocked = await changeRows(actor, {
    ...{ application, action: 'users.unlocked' },
    detail: ({ length }) =>
      `${length} accounts${mode === 'test' ? ' of test keys' : ''}${reason ? `: ${reason}` : ''}`,
    // In the order in which every statement locks accounts, so that no two of them wait for each other.
    sql: `WITH locked AS MATERIALIZED (
        SELECT account FROM account WHERE ${IS_LOCKED} AND locked_at <= $3 ORDER BY account LIMIT ${MAX_COUNTED} FOR UPDATE
      )
      UPDATE account SET locked_until = $2 FROM locked
      WHERE account.application = $1 AND account.account = locked.account RETURNING 1`,
    values: [getPartition({ application, mode }), Date.now(), lockedBy],
    otherwise: 'None of these accounts is locked any more.',
  })
  return unlocked.length
}
