import { type Contact, canonicalUser, maskContact, parseUser } from 'countersign/protocol'
import { APP_FACTOR } from '../accounts/app-secret.js'
import { BACKUP_FACTOR, backupCodesLeft } from '../accounts/backup-set.js'
import { type Mode, partitionOf } from '../application.js'
import { one, type Queries } from '../store/store.js'
import { limitsOf, mustExist } from './applications.js'
import { change, type Desk } from './actor.js'
import { OperatorError } from './operator-error.js'

/** Whose account is meant: the contact that stands for it, or the application's own name for it. */
export interface UserName {
  readonly application: string
  readonly mode: Mode
  /** A mailbox, a number, `mailbox:number`, or with `named` the `Account` that the application sends. */
  readonly user: string
  readonly named: boolean
}

/** One factor of an account. */
interface FactorState {
  /** `APP`, `BACKUP`, or the kind and the masked contact. */
  readonly factor: string
  /** Wrong codes since it was bound that nothing has forgiven. */
  readonly failures: number
  readonly disabled: 'no' | 'too many wrong codes' | 'by an operator'
}

/** A factor that was disabled. */
export interface DisabledFactor {
  /** As it may be shown. */
  readonly factor: string
  /** Whether anything had been seen of it in this account; else its contact may be misspelled. */
  readonly wasKnown: boolean
}

/** What support may know about a person's account. Contacts are masked (R46). */
export interface UserState {
  readonly user: string
  /** When the lock lifts, in milliseconds since 1970; `null` when there is none. */
  readonly lockedUntil: number | null
  /** Wrong codes of the last 24 h that nothing has forgiven. */
  readonly failures: number
  readonly email: string | null
  readonly phone: string | null
  readonly locale: string | null
  readonly authenticatorApp: 'none' | 'waits for its first code' | 'set up'
  readonly backupCodesLeft: number
  readonly factors: readonly FactorState[]
}

const DAY_MS = 86_400_000
// Beyond every cap that can be set.
const DISABLED = 1_000_000

/** What is known of an account. */
export async function showUser(desk: Desk, name: UserName): Promise<UserState> {
  const { store } = desk
  await mustExist(store, name.application)
  const partition = partitionOf(name.application, name.mode)
  const key = [partition, accountOf(name)]
  const account = await one<{
    locked_until: number
    failures: number
    proven_email: string | null
    proven_phone: string | null
    locale: string | null
  }>(
    store,
    `SELECT locked_until, proven_email, proven_phone, locale, (
       SELECT count(*)::integer FROM jsonb_array_elements(failures) AS entry WHERE (entry ->> 'at')::bigint > $3
     ) AS failures FROM account WHERE application = $1 AND account = $2`,
    [...key, Date.now() - DAY_MS],
  )
  if (!account) throw unknownUser(name)
  const app = await one<{ sealed: string | null; pending: string | null }>(
    store,
    'SELECT sealed, pending FROM app_secret WHERE application = $1 AND account = $2',
    key,
  )
  const { disableAfter } = await limitsOf(desk, name.application)
  const factors = await store.query<{ factor: string; failures: number }>(
    'SELECT factor, failures FROM factor WHERE application = $1 AND account = $2 ORDER BY factor',
    key,
  )
  return {
    user: shown(name),
    lockedUntil: account.locked_until > Date.now() ? account.locked_until : null,
    failures: account.failures,
    email: account.proven_email && masked(account.proven_email),
    phone: account.proven_phone && masked(account.proven_phone),
    locale: account.locale,
    authenticatorApp: app?.sealed ? 'set up' : app?.pending ? 'waits for its first code' : 'none',
    backupCodesLeft: await backupCodesLeft(store, { id: partition }, accountOf(name)),
    factors: factors.map((row) => ({
      factor: shownFactor(row.factor),
      // What an operator disabled is marked by a number that no guessing reaches.
      failures: row.failures % DISABLED,
      disabled: disabledBy(row.failures, disableAfter),
    })),
  }
}

/** Lifts an account's lock. The next one is as long as if this one had run out; disabled factors stay disabled. */
export async function unlockUser(desk: Desk, name: UserName): Promise<void> {
  const now = Date.now()
  await change(
    desk,
    async (tx) => {
      await mustExist(tx, name.application)
      const row = await one(
        tx,
        `UPDATE account SET locked_until = $3 WHERE application = $1 AND account = $2 AND locked_until > $3
         RETURNING account`,
        [partitionOf(name.application, name.mode), accountOf(name), now],
      )
      if (!row) throw new OperatorError(`${shown(name)} is not locked in "${name.application}".`)
    },
    () => ({ application: name.application, action: 'user.unlocked', detail: shown(name) }),
  )
}

/**
 * Disables a factor until it is bound again (R26): `app`, `backup`, or a contact of the account, whose codes then
 * count for nothing.
 */
export async function disableFactor(desk: Desk, name: UserName, factor: string): Promise<DisabledFactor> {
  const row = factorOf(factor)
  const key = [partitionOf(name.application, name.mode), accountOf(name)]
  const shownAs = shownFactor(row)
  return change(
    desk,
    async (tx) => {
      await mustExist(tx, name.application)
      const account = await one(
        tx,
        'SELECT account FROM account WHERE application = $1 AND account = $2 FOR UPDATE',
        key,
      )
      if (!account) throw unknownUser(name)
      const wasKnown = await isKnown(tx, key, row)
      await tx.query(
        `INSERT INTO factor (application, account, factor, failures) VALUES ($1, $2, $3, $4)
         ON CONFLICT (application, account, factor) DO UPDATE SET failures = EXCLUDED.failures + factor.failures % EXCLUDED.failures`,
        [...key, row, DISABLED],
      )
      return { factor: shownAs, wasKnown }
    },
    () => ({
      application: name.application,
      action: 'factor.disabled',
      detail: `${shownAs} of ${shown(name)}`,
    }),
  )
}

/** Whether an account has a factor or has used it, as far as that is remembered. */
async function isKnown(tx: Queries, key: readonly string[], factor: string): Promise<boolean> {
  const contact = factor.slice(factor.indexOf(':') + 1)
  const row = await one<{ known: boolean }>(
    tx,
    `SELECT EXISTS (SELECT FROM factor WHERE application = $1 AND account = $2 AND factor = $3)
       OR $2 = 'contact:' || $4::text
       OR EXISTS (SELECT FROM challenge WHERE application = $1 AND account = $2 AND type || ':' || contact = $3)
       OR EXISTS (SELECT FROM account WHERE application = $1 AND account = $2
         AND $3 IN ('EMAIL:' || lower(proven_email), 'PHONE:' || proven_phone,
           'DUAL:' || lower(proven_email) || ':' || proven_phone))
       OR $3 = $5 AND EXISTS (SELECT FROM app_secret WHERE application = $1 AND account = $2)
       OR $3 = $6 AND EXISTS (SELECT FROM backup_set WHERE application = $1 AND account = $2) AS known`,
    [...key, factor, contact, APP_FACTOR, BACKUP_FACTOR],
  )
  return row?.known ?? false
}

function disabledBy(failures: number, disableAfter: number): FactorState['disabled'] {
  if (failures >= DISABLED) return 'by an operator'
  return failures >= disableAfter ? 'too many wrong codes' : 'no'
}

function accountOf(name: UserName): string {
  return name.named ? `account:${name.user}` : `contact:${canonicalUser(contactOf(name.user))}`
}

function contactOf(text: string): Contact {
  const contact = parseUser(text)
  if (contact) return contact
  throw new OperatorError(
    `"${text}" is no contact: write ann@example.com, +447700900123 or both with a colon between. ` +
      'For the name that the application itself has for the account, say --account.',
  )
}

function factorOf(text: string): string {
  if (text === 'app') return APP_FACTOR
  if (text === 'backup') return BACKUP_FACTOR
  const contact = parseUser(text)
  if (!contact)
    throw new OperatorError(`"${text}" is no factor: say app, backup, or a contact of the person.`)
  return `${contact.kind.toUpperCase()}:${canonicalUser(contact)}`
}

function shownFactor(factor: string): string {
  const colon = factor.indexOf(':')
  return colon < 0 ? factor : `${factor.slice(0, colon)} ${masked(factor.slice(colon + 1))}`
}

function shown(name: UserName): string {
  return name.named ? name.user : masked(name.user)
}

function masked(text: string): string {
  const contact = parseUser(text)
  return contact ? maskContact(contact) : '•••'
}

function unknownUser(name: UserName): OperatorError {
  const [among, otherwise] =
    name.mode === 'test' ? [' among its test data', ''] : ['', ' For what test keys made, say --test.']
  return new OperatorError(
    `${shown(name)} has no account in "${name.application}"${among}. ` +
      `If the application names its accounts itself, say --account with that name.${otherwise}`,
  )
}
