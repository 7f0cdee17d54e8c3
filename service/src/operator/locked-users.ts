import type { Mode } from '../store/partition.js'
import { partitionOf } from '../store/partition.js'
import { queryOne } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'
import { maskedUser, type UserReference, userOf } from './users.js'

/** The accounts of an application that are locked now. */
export interface LockedUsers {
  /** How many there are; 10,000 stands for this many or more. */
  readonly count: number
  /** The first hundred, those whose lock ends first, each as it may be shown and with the end of the lock in milliseconds since 1970. */
  readonly users: readonly (UserReference & { readonly shown: string; readonly lockedUntil: number })[]
}

/** Identifies the data of an application. */
interface Data {
  /** The name of the application. */
  readonly application: string
  /** `test` stands for the data of test keys. */
  readonly mode: Mode
}

const MAX_COUNTED = 10_000
const MAX_LISTED = 100

// An index has the accounts that were ever locked.
const IS_LOCKED = 'application = $1 AND locked_until > 0 AND locked_until > $2'

/** Lists and counts the accounts that are locked now. */
export async function listLocked({ store }: Actor, { application, mode }: Data): Promise<LockedUsers> {
  await mustExist(store, application)
  const partition = partitionOf(application, mode)
  const row = await queryOne<{ count: number }>(
    store,
    `SELECT count(*)::integer AS count FROM (SELECT FROM account WHERE ${IS_LOCKED} LIMIT ${MAX_COUNTED}) AS locked`,
    [partition, Date.now()],
  )
  const rows = await store.query<{ account: string; locked_until: number }>(
    `SELECT account, locked_until FROM account WHERE ${IS_LOCKED} ORDER BY locked_until LIMIT ${MAX_LISTED}`,
    [partition, Date.now()],
  )
  return {
    count: row?.count ?? 0,
    users: rows.map(({ account, locked_until }) => {
      const user = userOf(partition, account)
      return { ...user, shown: maskedUser(user), lockedUntil: locked_until }
    }),
  }
}

/**
 * Ends the locks of all accounts of an application that were locked by the time `lockedBy`, in milliseconds since 1970: those that
 * were counted. At most 10,000 at once; resolves to how many there were. Disabled factors stay disabled.
 */
export function unlockUsers(
  actor: Actor,
  { application, mode, lockedBy }: Data & { readonly lockedBy: number },
): Promise<number> {
  return auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const rows = await tx.query(
        // In the order in which every statement locks accounts, so that no two of them wait for each other.
        `WITH locked AS MATERIALIZED (
           SELECT account FROM account WHERE ${IS_LOCKED} AND locked_at <= $3 ORDER BY account LIMIT ${MAX_COUNTED} FOR UPDATE
         )
         UPDATE account SET locked_until = $2 FROM locked
         WHERE account.application = $1 AND account.account = locked.account RETURNING 1`,
        [partitionOf(application, mode), Date.now(), lockedBy],
      )
      if (rows.length === 0) throw new OperatorError('None of these accounts is locked any more.')
      return rows.length
    },
    (count) => ({
      application,
      action: 'users.unlocked',
      detail: `${count} accounts${mode === 'test' ? ' of test keys' : ''}`,
    }),
  )
}
