import {
  type Contact,
  canonicalUser,
  KEY_METHODS,
  KEY_TYPE,
  type Key,
  maskContact,
  parseUser,
} from 'countersign/protocol'
import { DISABLED_BY_OPERATOR, holdAccount } from '../accounts/account.js'
import { deleteKey, keyFrom, listKeys } from '../accounts/account-key.js'
import { APP_FACTOR } from '../accounts/app-secret.js'
import { BACKUP_FACTOR, backupCodesLeft } from '../accounts/backup-set.js'
import { writeEvent } from '../messages/events/write-events.js'
import { type DataReference, getPartition, parsePartition } from '../store/partition.js'
import { accountReference } from '../store/secrets/keys.js'
import type { Queries } from '../store/store.js'
import { DAY_MS } from '../time.js'
import { effectiveApplication, findStoredSettings, mustExist } from './applications.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { changeRows } from './change-rows.js'

interface FactorState {
  /** `APP`, `BACKUP`, or the kind of contact and the masked contact. */
  readonly factor: string
  /** Unforgiven wrong codes since it was bound. */
  readonly failures: number
  /** Whether its codes are refused until it is bound again, and why. */
  readonly disabled: 'no' | 'too many wrong codes' | 'by an operator'
}

/** A factor that was disabled. */
export interface DisabledFactor {
  /** The factor, with its contact masked. */
  readonly factor: string
  /** Whether the account has or has used the factor; if not, the contact may be misspelled. */
  readonly wasKnown: boolean
}

/** The state of an account for support, with masked contacts (R46). */
export interface UserState {
  /** The account, masked if it is a contact. */
  readonly user: string
  /** When the lock ends, in milliseconds since 1970; `null` when the account is not locked. */
  readonly lockedUntil: number | null
  /** Unforgiven wrong codes of the last 24 hours. */
  readonly failures: number
  /** The proven mailbox, masked; `null` when there is none. */
  readonly email: string | null
  /** The proven phone number, masked; `null` when there is none. */
  readonly phone: string | null
  /** The language of the latest verification; `null` when it is unknown. */
  readonly locale: string | null
  /** Whether an authenticator app is set up, or its enrollment is unconfirmed. */
  readonly authenticatorApp: 'none' | 'waits for its first code' | 'set up'
  /** The number of unused backup codes. */
  readonly backupCodesLeft: number
  /** The number of security keys and passkeys. */
  readonly keys: number
  /** The factors with failures, and those that an operator disabled. */
  readonly factors: readonly FactorState[]
}

/** Shows the state of a user. */
export async function showUser(actor: Actor, user: UserReference): Promise<UserState> {
  const { store } = actor
  const settings = await findStoredSettings(store, user.application)
  const { limits } = effectiveApplication(actor, user.application, settings)
  const partition = getPartition(user)
  const key = [partition, readAccount(user)]
  const [account] = await store.query<{
    locked_until: number
    failures: number
    proven_email: string | null
    proven_phone: string | null
    locale: string | null
  }>(
    `SELECT locked_until, proven_email, proven_phone, locale, (
       SELECT count(*)::integer FROM jsonb_array_elements(failures) AS entry WHERE (entry ->> 'at')::bigint > $3
     ) AS failures FROM account WHERE application = $1 AND account = $2`,
    [...key, Date.now() - DAY_MS],
  )
  if (!account) throw unknownUser(user)
  const [app] = await store.query<{ sealed: string | null; pending: string | null }>(
    'SELECT sealed, pending FROM app_secret WHERE application = $1 AND account = $2',
    key,
  )
  const factors = await store.query<{ factor: string; failures: number }>(
    'SELECT factor, failures FROM factor WHERE application = $1 AND account = $2 ORDER BY factor',
    key,
  )
  return {
    user: maskUser(user),
    lockedUntil: account.locked_until > Date.now() ? account.locked_until : null,
    failures: account.failures,
    email: account.proven_email && maskText(account.proven_email),
    phone: account.proven_phone && maskText(account.proven_phone),
    locale: account.locale,
    authenticatorApp: app?.sealed ? 'set up' : app?.pending ? 'waits for its first code' : 'none',
    backupCodesLeft: await backupCodesLeft(store, { id: partition }, readAccount(user)),
    keys: (await listKeys(store, { id: partition }, readAccount(user))).length,
    factors: factors.map((row) => ({
      factor: maskFactor(row.factor),
      // An operator's disabling is stored as a number that no guessing reaches.
      failures: row.failures % DISABLED_BY_OPERATOR,
      disabled: findDisabled(row.failures, limits.failuresBeforeDisable),
    })),
  }
}

/** Lifts the lock of a user. It forgives no failure (R25, R26). */
export async function unlockUser(actor: Actor, user: UserReference): Promise<void> {
  await changeRows(actor, {
    ...{ application: user.application, action: 'user.unlocked', detail: maskUser(user) },
    sql: `UPDATE account SET locked_until = $3 WHERE application = $1 AND account = $2 AND locked_until > $3
      RETURNING account`,
    values: [getPartition(user), readAccount(user), Date.now()],
    otherwise: `${maskUser(user)} is not locked in "${user.application}".`,
  })
}

/** Disables a factor of a user until it is bound anew. */
export async function disableFactor(
  actor: Actor,
  user: UserReference,
  factor: string,
): Promise<DisabledFactor> {
  const factorName = readFactor(factor)
  const key = [getPartition(user), readAccount(user)]
  const shown = maskFactor(factorName)
  return changeWithAudit(actor, async (tx, record) => {
    await mustExist(tx, user.application)
    const [account] = await tx.query(
      'SELECT account FROM account WHERE application = $1 AND account = $2 FOR UPDATE',
      key,
    )
    if (!account) throw unknownUser(user)
    const wasKnown = await isKnown(tx, key, factorName)
    await tx.query(
      `INSERT INTO factor (application, account, factor, failures) VALUES ($1, $2, $3, $4)
       ON CONFLICT (application, account, factor) DO UPDATE SET failures = EXCLUDED.failures + factor.failures % EXCLUDED.failures`,
      [...key, factorName, DISABLED_BY_OPERATOR],
    )
    const detail = `${shown} of ${maskUser(user)}`
    record({ application: user.application, action: 'factor.disabled', detail })
    return { factor: shown, wasKnown }
  })
}

/** Whether the store still shows that an account has a factor or has used it. */
async function isKnown(tx: Queries, key: readonly string[], factor: string): Promise<boolean> {
  const contact = factor.slice(factor.indexOf(':') + 1)
  const [row] = await tx.query<{ known: boolean }>(
    `SELECT EXISTS (SELECT FROM factor WHERE application = $1 AND account = $2 AND factor = $3)
       OR $2 = 'contact:' || $4::text
       OR EXISTS (SELECT FROM challenge WHERE application = $1 AND account = $2 AND type || ':' || contact = $3)
       OR EXISTS (SELECT FROM account WHERE application = $1 AND account = $2
         AND $3 IN ('EMAIL:' || lower(proven_email), 'PHONE:' || proven_phone,
           'DUAL:' || lower(proven_email) || ':' || proven_phone))
       OR $3 = $5 AND EXISTS (SELECT FROM app_secret WHERE application = $1 AND account = $2)
       OR EXISTS (SELECT FROM account_key WHERE application = $1 AND account = $2
         AND upper(replace(method, '-', '_')) = $3)
       OR $3 = $6 AND EXISTS (SELECT FROM backup_set WHERE application = $1 AND account = $2) AS known`,
    [...key, factor, contact, APP_FACTOR, BACKUP_FACTOR],
  )
  return row?.known ?? false
}

function findDisabled(failures: number, failuresBeforeDisable: number): FactorState['disabled'] {
  if (failures >= DISABLED_BY_OPERATOR) return 'by an operator'
  return failures >= failuresBeforeDisable ? 'too many wrong codes' : 'no'
}

/** The name of a factor in rows. Throws an `OperatorError` when it is none. */
export function readFactor(text: string): string {
  if (text === 'app') return APP_FACTOR
  if (text === 'backup') return BACKUP_FACTOR
  const method = KEY_METHODS.find((known) => known === text)
  if (method) return KEY_TYPE[method]
  const contact = parseUser(text)
  if (!contact)
    throw new OperatorError(
      `"${text}" is not a factor: use app, backup, security-key, passkey, or a contact of the user.`,
    )
  return `${contact.kind.toUpperCase()}:${canonicalUser(contact)}`
}

/** A factor as it may be shown. */
export function maskFactor(factor: string): string {
  const colon = factor.indexOf(':')
  return colon < 0 ? factor : `${factor.slice(0, colon)} ${maskText(factor.slice(colon + 1))}`
}

/** Identifies an account: by a contact, or by the application's own name for it. */
export interface UserReference extends DataReference {
  /** A mailbox, a phone number or `mailbox:number`; if `isAccount`, the `Account` that the application sends. */
  readonly user: string
  /** Whether `user` is the application's own name for the account. */
  readonly isAccount: boolean
}

/** The account in rows. Throws an `OperatorError` when `user` is neither a contact nor marked as an account's name. */
export function readAccount({ user, isAccount }: UserReference): string {
  return isAccount ? `account:${user}` : `contact:${canonicalUser(parseContact(user))}`
}

function parseContact(text: string): Contact {
  const contact = parseUser(text)
  if (contact) return contact
  throw new OperatorError(
    `"${text}" is not a contact: write ann@example.com, +447700900123, or both separated by a colon. ` +
      'If it is the name that the application sends as Account, add --account.',
  )
}

/** The user whose account rows name like this: the opposite of `readAccount`. */
export function createUserReference(partition: string, account: string): UserReference {
  return {
    ...parsePartition(partition),
    user: account.slice(account.indexOf(':') + 1),
    isAccount: account.startsWith('account:'),
  }
}

/** The account as it may be shown. */
export function maskUser({ user, isAccount }: UserReference): string {
  return isAccount ? user : maskText(user)
}

/** A contact as it may be shown. */
export function maskText(text: string): string {
  const contact = parseUser(text)
  return contact ? maskContact(contact) : '•••'
}

/** The error for an account that does not exist. */
export function unknownUser(user: UserReference): OperatorError {
  const isTest = user.mode === 'test'
  const where = isTest ? ' in its test data' : ''
  const hint = isTest ? '' : ' For data of test keys, add --test.'
  return new OperatorError(
    `${maskUser(user)} has no account in "${user.application}"${where}. ` +
      `If the application names its accounts itself, write that name and add --account; "find" shows it.${hint}`,
  )
}

/** Lists the keys of a user. */
export async function listUserKeys({ store }: Actor, user: UserReference): Promise<readonly Key[]> {
  await mustExist(store, user.application)
  const rows = await listKeys(store, { id: getPartition(user) }, readAccount(user))
  return rows.map(keyFrom)
}

/** Removes a key of a user. */
export async function removeUserKey(actor: Actor, user: UserReference, id: string): Promise<void> {
  const partition = { id: getPartition(user) }
  const account = readAccount(user)
  const reference = accountReference(actor.keys(), partition.id, account)
  await changeWithAudit(actor, async (tx, record) => {
    await mustExist(tx, user.application)
    const known = await listKeys(tx, partition, account)
    if (!known.some((key) => key.id === id)) throw unknownKey(user)
    await holdAccount(actor.keys(), tx, partition, account)
    const removed = await deleteKey(tx, partition, account, id)
    if (!removed) throw unknownKey(user)
    const factor = KEY_TYPE[removed.method]
    const data = { factor, key: id, by: 'operator' }
    await writeEvent(tx, { application: partition.id, account, type: 'factor.removed', data }, Date.now())
    const detail = `${factor} of account ${reference}`
    record({ application: user.application, action: 'factor.removed', detail })
  })
}

/** The error for a key that the account does not have. */
export function unknownKey(user: UserReference): OperatorError {
  return new OperatorError(
    `${maskUser(user)} has no such key in "${user.application}": list them with user keys.`,
  )
}
