import { writeEvent, writeEventsSql } from '../messages/events/write-events.js'
import type { Partition } from '../store/partition.js'
import { newBackupCode, newBackupSalt } from '../store/secrets/codes.js'
import { addKeyId, type Keys, listKeys, mac } from '../store/secrets/keys.js'
import { type Queries, queryOne, type Store } from '../store/store.js'
import { forgetFactor, type OfAccount } from './account.js'
import type { Application } from './application.js'
import { type AttemptResult, type MakeAttempt, makeAttempt } from './attempt.js'
import { attemptStatement, matchAccountSql } from './attempt-statement.js'

/** The name of the backup codes among an account's factors. */
export const BACKUP_FACTOR = 'BACKUP'

/** The fields of an event about new backup codes. */
const BY_USER = { factor: BACKUP_FACTOR, by: 'user' }

/** Whether a set was shown on a page: it belongs to no contact. A set that only waits for its messages has no salt yet. */
export const IS_SHOWN_SET = '(backup_set.contact IS NULL AND backup_set.salt IS NOT NULL)'

/** The account that has the codes, and the contact that received them. */
interface Owner {
  readonly account: string
  readonly canonicalContact: string
}

/** New codes, and the salt that identifies their set. */
export interface NewSet {
  readonly salt: string
  readonly codes: readonly string[]
}

/** A new set of codes, not stored yet (R58). */
export function newBackupSet({ limits }: Application): NewSet {
  const codes = Array.from({ length: limits.backupCodes }, () => newBackupCode(limits.backupCodeLength))
  return { salt: newBackupSalt(), codes }
}

/** Stores a set, in place of one that waits, until its messages are handed over. The active one stays. The account's row must be locked. */
export async function storeWaitingSet(
  keys: Keys,
  tx: Queries,
  application: Application,
  owner: Owner,
  { salt, codes }: NewSet,
  messageIds: readonly string[],
  now: number,
): Promise<void> {
  await activateWaitingSet(tx, application, owner.account)
  const key = [application.id, owner.account]
  await tx.query(
    `INSERT INTO backup_set (application, account, waiting_contact, waiting_salt, waiting_since, waiting_messages)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (application, account) DO UPDATE SET waiting_contact = EXCLUDED.waiting_contact,
       waiting_salt = EXCLUDED.waiting_salt, waiting_since = EXCLUDED.waiting_since,
       waiting_messages = EXCLUDED.waiting_messages`,
    [...key, owner.canonicalContact, salt, now, messageIds],
  )
  await tx.query(
    `DELETE FROM backup_code USING backup_set
     WHERE backup_code.application = $1 AND backup_code.account = $2 AND backup_set.application = $1
       AND backup_set.account = $2 AND backup_code.salt IS DISTINCT FROM backup_set.salt`,
    key,
  )
  await storeCodes(keys, tx, application, owner.account, { salt, codes })
}

/** Stores a set that is shown on a page, in place of every other one. It is valid for the account, whatever the contact. */
export async function storeShownSet(
  keys: Keys,
  tx: Queries,
  application: Application,
  account: string,
  { salt, codes }: NewSet,
  now: number,
): Promise<void> {
  await removeBackupSet(tx, application, account)
  const set = [application.id, account, salt, now]
  await tx.query('INSERT INTO backup_set (application, account, salt, made_at) VALUES ($1, $2, $3, $4)', set)
  await storeCodes(keys, tx, application, account, { salt, codes })
  const event = { application: application.id, account, type: 'factor.added', data: BY_USER } as const
  await writeEvent(tx, event, now)
}

/** Deletes all backup codes of an account and their failures. Resolves to `true` if it had any. */
export const removeBackupSet: OfAccount<boolean> = async (tx, application, account) => {
  const key = [application.id, account]
  const codes = await tx.query(
    'DELETE FROM backup_code WHERE application = $1 AND account = $2 RETURNING 1',
    key,
  )
  await tx.query('DELETE FROM backup_set WHERE application = $1 AND account = $2', key)
  await forgetFactor(tx, application, account, BACKUP_FACTOR)
  return codes.length > 0
}

async function storeCodes(
  keys: Keys,
  tx: Queries,
  application: Application,
  account: string,
  { salt, codes }: NewSet,
): Promise<void> {
  const macs = codes.map((code) => computeMac(keys, application, account, salt, code))
  await tx.query(
    `INSERT INTO backup_code (application, account, salt, mac)
     SELECT $1, $2, $3, mac FROM unnest($4::text[]) AS mac`,
    [application.id, account, salt, macs],
  )
}

/** Activates the waiting set once its messages are handed over; the former set and its failures go (R26, R61). `true` if it did so now. */
export const activateWaitingSet: OfAccount<boolean> = async (queries, application, account) => {
  const rows = await queries.query(
    `WITH activated AS (
       UPDATE backup_set SET contact = waiting_contact, salt = waiting_salt, made_at = waiting_since,
         waiting_contact = NULL, waiting_salt = NULL, waiting_since = NULL, waiting_messages = NULL
       WHERE application = $1 AND account = $2 AND waiting_messages IS NOT NULL AND NOT EXISTS (
         SELECT FROM unnest(waiting_messages) AS message WHERE NOT EXISTS (
           SELECT FROM outbox WHERE outbox.application = $1 AND outbox.id = message AND outbox.state IN ('sent', 'delivered', 'failed')))
       RETURNING salt
     ), ${writeEventsSql(
       `(SELECT $1::text AS application, $2::text AS account, 'factor.added' AS type, $4::jsonb AS data, $5::bigint AS at FROM activated)`,
     )}, former_codes AS (
       DELETE FROM backup_code USING activated
       WHERE application = $1 AND account = $2 AND backup_code.salt <> activated.salt
     ), failures AS (
       DELETE FROM factor USING activated WHERE application = $1 AND account = $2 AND factor = $3
     )
     SELECT 1 FROM activated`,
    [application.id, account, BACKUP_FACTOR, JSON.stringify(BY_USER), Date.now()],
  )
  return rows.length > 0
}

/** Activates or drops sets that have waited since before `since`: their messages have been sent by now, or never will be. */
export async function settleWaitingSets(
  store: Queries,
  since: number,
  limit: number,
): Promise<readonly unknown[]> {
  const sets = await store.query<{ application: string; account: string; waiting_salt: string }>(
    'SELECT application, account, waiting_salt FROM backup_set WHERE waiting_since < $1 LIMIT $2',
    [since, limit],
  )
  for (const { application: id, account, waiting_salt } of sets) {
    if (!(await activateWaitingSet(store, { id }, account)))
      await dropWaitingSet(store, { id }, account, waiting_salt)
  }
  return sets
}

/** Deletes a waiting set whose messages could not be delivered; the active set stays valid (R61). */
export const dropWaitingSet: OfAccount<void, [salt: string]> = async (
  queries,
  application,
  account,
  salt,
) => {
  await queries.query(
    `WITH dropped AS (
       UPDATE backup_set
       SET waiting_contact = NULL, waiting_salt = NULL, waiting_since = NULL, waiting_messages = NULL
       WHERE application = $1 AND account = $2 AND waiting_salt = $3 RETURNING 1
     )
     DELETE FROM backup_code USING dropped WHERE application = $1 AND account = $2 AND salt = $3`,
    [application.id, account, salt],
  )
}

const EVALUATE_BACKUP_CODE = attemptStatement(
  'backup',
  'macs text[]',
  `used AS (
    DELETE FROM backup_code USING gate
    WHERE gate.open AND NOT gate.disabled AND ${matchAccountSql('backup_code', 'gate')}
      AND mac = ANY (gate.macs)
    RETURNING gate.nr
  ), evaluated AS (
    SELECT nr, EXISTS (SELECT FROM used WHERE used.nr = gate.nr) AS ok, NULL::text AS challenge, false AS rebound
    FROM gate WHERE gate.open AND NOT gate.disabled
  )`,
)

/** Makes an attempt with a backup code of this contact's active set or of a shown one (R60). Without a set it costs the same work (R90). */
export const attemptBackupCode: MakeAttempt<
  /** The forms in which the code may be stored: itself, and as another system hashed it. */
  { readonly owner: Owner; readonly forms: readonly string[] },
  { readonly result: AttemptResult | undefined; readonly isShown: boolean }
> = async ({ store, keys }, application, attempt, now, { owner, forms }) => {
  const set = await findSet(store, application, owner)
  const isShown = set?.shown === true
  const salt = isShown || set?.contact === owner.canonicalContact ? (set?.salt ?? '') : ''
  const macs = listKeys(keys).flatMap((key) =>
    forms.map((form) => computeMac(key, application, owner.account, salt, form)),
  )
  const notifying = { ...attempt, notifiesOnSuccess: true }
  const result = await makeAttempt(store, EVALUATE_BACKUP_CODE, application, notifying, now, { macs })
  return { result, isShown }
}

/** The number of codes left in the active set. */
export const backupCodesLeft: OfAccount<number> = async (queries, application, account) => {
  const [row] = await queries.query<{ left: number }>(
    `SELECT count(*)::integer AS left FROM backup_code JOIN backup_set USING (application, account, salt)
     WHERE application = $1 AND account = $2`,
    [application.id, account],
  )
  return row?.left ?? 0
}

interface SetRow {
  readonly contact: string | null
  readonly salt: string | null
  readonly shown: boolean
  readonly waits: boolean
}

async function findSet(store: Store, application: Application, owner: Owner): Promise<SetRow | undefined> {
  const find = () =>
    queryOne<SetRow>(
      store,
      `WITH known AS (INSERT INTO account (application, account) VALUES ($1, $2) ON CONFLICT DO NOTHING)
       SELECT contact, salt, ${IS_SHOWN_SET} AS shown, waiting_messages IS NOT NULL AS waits FROM backup_set
       WHERE application = $1 AND account = $2`,
      [application.id, owner.account],
    )
  const found = await find()
  if (!found?.waits) return found
  // Any process may have sent its messages since, and another request may be activating the set at this moment.
  await activateWaitingSet(store, application, owner.account)
  return find()
}

/** The stored form of a backup code: a keyed hash bound to application, account and set (R59). */
export function computeMac(
  keys: Keys,
  { id }: Partition,
  account: string,
  salt: string,
  code: string,
): string {
  return addKeyId(keys, mac(keys.backup, [id, account, salt, code]).toString('base64url'))
}
