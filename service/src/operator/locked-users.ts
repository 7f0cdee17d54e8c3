import { type DataReference, partitionOf } from '../store/partition.js'
import { mustExist } from './applications.js'
import type { Actor } from './audited-change.js'
import { changeRows } from './change-rows.js'
import { maskedUser, type UserReference, userOf } from './users.js'

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

export async function listLocked({ store }: Actor, data: DataReference): Promise<LockedUsers> {
  await mustExist(store, data.application)
  const partition = partitionOf(data)
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
      const user = userOf(partition, account)
      return { ...user, shown: maskedUser(user), lockedUntil }
    }),
  }
}

export async function unlockUsers(
  actor: Actor,
  { application, mode, lockedBy }: DataReference & { readonly lockedBy: number },
): Promise<number> {
  const unlocked = await changeRows(actor, {
    ...{ application, action: 'users.unlocked' },
    detail: ({ length }) => `${length} accounts${mode === 'test' ? ' of test keys' : ''}`,
    // In the order in which every statement locks accounts, so that no two of them wait for each other.
    sql: `WITH locked AS MATERIALIZED (
        SELECT account FROM account WHERE ${IS_LOCKED} AND locked_at <= $3 ORDER BY account LIMIT ${MAX_COUNTED} FOR UPDATE
      )
      UPDATE account SET locked_until = $2 FROM locked
      WHERE account.application = $1 AND account.account = locked.account RETURNING 1`,
    values: [partitionOf({ application, mode }), Date.now(), lockedBy],
    otherwise: 'None of these accounts is locked any more.',
  })
  return unlocked.length
}
