import { listAccounts } from '../accounts/account.js'
import { type Erasure, eraseAccount } from '../accounts/erase-account.js'
import { exportAccount } from '../accounts/export-account.js'
import type { AccountExport } from '../accounts/export-schema.js'
import { type DataReference, getPartition, nameOfPartition, type Partition } from '../store/partition.js'
import { accountReference, type Keys } from '../store/secrets/keys.js'
import { openIfSealed, seal } from '../store/secrets/seal.js'
import type { Queries, Store } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { maskText, readAccount, type UserReference, type UserState, unknownUser } from './users.js'

/** The result of an erasure. */
export interface ErasedUser {
  /** The keyed hash that stands for the account in the log, and from now on in the audit log. */
  readonly reference: string
  /** How many rows were deleted; `undefined` when nothing was stored about the account. */
  readonly deleted: Erasure | undefined
}

/** An account in a list, with masked contacts. */
interface UserSummary
  extends Pick<UserState, 'lockedUntil' | 'email' | 'phone' | 'backupCodesLeft' | 'keys'> {
  /** The application's own name for the account; `null` if it is known by its contact. */
  readonly account: string | null
  /** The contact by which the account is known, masked; `null` if it has a name. */
  readonly user: string | null
  /** The keyed hash that stands for the account in the log. */
  readonly reference: string
  /** Whether a confirmed authenticator app is set up. */
  readonly authenticatorApp: boolean
}

/** A page of a list of accounts. */
export interface UserPage {
  /** In the order of their names. */
  readonly users: readonly UserSummary[]
  /** Where the next page begins; `undefined` on the last page. It reveals no contact. */
  readonly next?: string
}

/** The maximum number of accounts on a page. */
export const MAX_USERS = 1_000

const ACCOUNT_PREFIX = 'account:'

// Audit entries that show an account's name. Contacts are only ever shown masked.
const NAMED_IN_AUDIT = "action IN ('user.unlocked', 'factor.disabled')"

/** Erases an account, and its name from the audit log (R104), in one transaction. For an unknown account, nothing changes. */
export async function eraseUserData(
  actor: Actor,
  partition: Partition,
  account: string,
): Promise<ErasedUser> {
  const reference = accountReference(actor.keys(), partition.id, account)
  const application = nameOfPartition(partition.id)
  const deleted = await changeWithAudit(actor, async (tx, record) => {
    const erasure = await eraseAccount(tx, partition, account)
    if (account.startsWith(ACCOUNT_PREFIX)) {
      await forgetName(tx, application, account.slice(ACCOUNT_PREFIX.length), reference)
    }
    record(erasure && { application, action: 'user.erased', detail: `account ${reference}` })
    return erasure
  })
  return { reference, deleted }
}

async function forgetName(tx: Queries, application: string, name: string, reference: string): Promise<void> {
  await tx.query(
    `UPDATE audit SET detail = left(detail, length(detail) - length($2)) || 'account ' || $3
     WHERE application = $1 AND ${NAMED_IN_AUDIT}
       -- An index has the ends of details.
       AND reverse(detail) ~>=~ reverse($2) AND reverse(detail) ~<~ (reverse($2) || chr(1114111))
       AND (detail = $2 OR right(detail, length($2) + 4) = ' of ' || $2)`,
    [application, name, reference],
  )
}

/** Exports an account, and records that in the audit log. `undefined` when the account is unknown. */
export function exportUserData(
  actor: Actor,
  partition: Partition,
  account: string,
): Promise<AccountExport | undefined> {
  const application = nameOfPartition(partition.id)
  return changeWithAudit(actor, async (tx, record) => {
    const exported = await exportAccount(actor.keys(), tx, partition, account)
    record(exported && { application, action: 'user.exported', detail: `account ${exported.reference}` })
    return exported
  })
}

/** A page of the accounts of an application; `undefined` when `after` is not the `next` of an earlier page. */
export async function listUserData(
  store: Store,
  keys: Keys,
  partition: Partition,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<UserPage | undefined> {
  const start = after === undefined ? '' : openIfSealed(keys, cursorIdentity(partition), after)
  if (start === undefined) return undefined
  const size = Math.min(limit, MAX_USERS)
  const rows = await listAccounts(store, partition, { after: start, limit: size })
  const last = rows.length === size ? rows.at(-1) : undefined
  const users = rows.map(
    ({ account, proven_email, proven_phone, locked_until, app, backup_codes, keys: own }) => {
      const isNamed = account.startsWith(ACCOUNT_PREFIX)
      const name = account.slice(account.indexOf(':') + 1)
      return {
        account: isNamed ? name : null,
        user: isNamed ? null : maskText(name),
        reference: accountReference(keys, partition.id, account),
        email: proven_email && maskText(proven_email),
        phone: proven_phone && maskText(proven_phone),
        lockedUntil: locked_until > Date.now() ? locked_until : null,
        authenticatorApp: app,
        backupCodesLeft: backup_codes,
        keys: own,
      }
    },
  )
  return { users, ...(last && { next: seal(keys, cursorIdentity(partition), last.account) }) }
}

// An account may be named by its contact, which must not appear in the addresses that proxies log.
function cursorIdentity({ id }: Partition): string[] {
  return ['list of users', id]
}

/** Something that happened to an account, without codes and contacts. */
export interface TimelineEntry {
  /** When it happened, in milliseconds since 1970. */
  readonly at: number
  /** `challenge`, `message` or `wrong code`. */
  readonly kind: 'challenge' | 'message' | 'wrong code'
  /** Its kind and purpose, such as `sms for sign-in`. */
  readonly what: string
  /** How it ended, such as `typed` or `delivered`; empty for a wrong code. */
  readonly result: string
  /** The id of a message; `null` for everything else. */
  readonly message: string | null
}

const MAX_ENTRIES = 50

/** Lists the latest challenges, messages and wrong codes of a user, the newest first. */
export async function userTimeline({ store }: Actor, user: UserReference): Promise<TimelineEntry[]> {
  await mustExist(store, user.application)
  const key = [getPartition(user), readAccount(user)]
  return store.query<TimelineEntry>(
    `(SELECT created_at AS at, 'challenge' AS kind, method || ' for ' || purpose AS what,
        attempts || ' of ' || max_attempts || ' attempts, '
          || CASE WHEN ended_at IS NOT NULL THEN 'ended' WHEN expires_at <= $3 THEN 'expired' ELSE 'open' END AS result, NULL AS message
      FROM challenge WHERE application = $1 AND account = $2 ORDER BY created_at DESC LIMIT ${MAX_ENTRIES})
     UNION ALL (SELECT created_at, 'message', channel || ' to ' || masked,
        state || coalesce(' by ' || carrier, '') || coalesce(', fault: ' || fault, ''), id
      FROM outbox WHERE application = $1 AND account = $2 ORDER BY created_at DESC LIMIT ${MAX_ENTRIES})
     UNION ALL (SELECT (entry ->> 'at')::bigint, 'wrong code', split_part(entry ->> 'factor', ':', 1), '', NULL
      FROM account, jsonb_array_elements(failures) AS entry WHERE application = $1 AND account = $2)
     ORDER BY at DESC LIMIT ${MAX_ENTRIES}`,
    [...key, Date.now()],
  )
}

/** Which accounts are listed. */
export interface UserFilter extends DataReference {
  /** The maximum number of accounts on the page, at most 1000. */
  readonly limit: number
  /** The `next` of the page before. Defaults to the first page. */
  readonly after?: string | undefined
}

/** Lists users, page by page. */
export async function listUsers(actor: Actor, filter: UserFilter): Promise<UserPage> {
  const { application, mode, ...page } = filter
  await mustExist(actor.store, application)
  const partition = { id: getPartition({ application, mode }) }
  const found = await listUserData(actor.store, actor.keys(), partition, page)
  if (!found)
    throw new OperatorError('This page does not exist: use the `next` of an earlier page of the same list.')
  return found
}

/** Exports the stored data about a user. */
export async function exportUser(actor: Actor, user: UserReference): Promise<AccountExport> {
  await mustExist(actor.store, user.application)
  const partition = { id: getPartition(user) }
  const exported = await exportUserData(actor, partition, readAccount(user))
  if (!exported) throw unknownUser(user)
  return exported
}

/** Erases the stored data about a user. */
export async function eraseUser(actor: Actor, user: UserReference): Promise<ErasedUser> {
  await mustExist(actor.store, user.application)
  return eraseUserData(actor, { id: getPartition(user) }, readAccount(user))
}
