import type { Application } from '../application.js'
import type { Core } from '../flows/context.js'
import { backupMac, newBackupCode, newBackupSalt } from '../secrets/backup-code.js'
import { allKeys, type Keys, withKeyId } from '../secrets/keys.js'
import { one, type Queries, type Store } from '../store/store.js'
import { type Attempt, type Attempted, attempt, attemptStatement, FIRST_PARAMETER } from './attempt.js'

/** The name of the backup codes among an account's factors. */
export const BACKUP_FACTOR = 'BACKUP'

/** Whose codes: an account, and the contact in its one spelling that received them. */
interface Owner {
  readonly account: string
  readonly user: string
}

/** New codes, and the salt that names their set. */
export interface NewSet {
  readonly salt: string
  readonly codes: readonly string[]
}

/** A new set of codes, kept nowhere yet (R58). */
export function newBackupSet({ limits }: Application): NewSet {
  const codes = Array.from({ length: limits.backupCodes }, () => newBackupCode(limits.backupCodeLength))
  return { salt: newBackupSalt(), codes }
}

/**
 * Keeps a new set beside the living one until the letters that bring it were handed over. A set that was waiting
 * before dies, the living one does not. The account's row must be held.
 */
export async function keepWaiting(
  core: Core,
  tx: Queries,
  application: Application,
  owner: Owner,
  { salt, codes }: NewSet,
  letters: readonly string[],
  now: number,
): Promise<void> {
  await settleWaiting(tx, application, owner.account)
  const key = [application.id, owner.account]
  await tx.query(
    `INSERT INTO backup_set (application, account, waiting_contact, waiting_salt, waiting_since, waiting_letters)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (application, account) DO UPDATE SET waiting_contact = EXCLUDED.waiting_contact,
       waiting_salt = EXCLUDED.waiting_salt, waiting_since = EXCLUDED.waiting_since,
       waiting_letters = EXCLUDED.waiting_letters`,
    [...key, owner.user, salt, now, letters],
  )
  await tx.query(
    `DELETE FROM backup_code USING backup_set
     WHERE backup_code.application = $1 AND backup_code.account = $2 AND backup_set.application = $1
       AND backup_set.account = $2 AND backup_code.salt IS DISTINCT FROM backup_set.salt`,
    key,
  )
  const macs = codes.map((code) => macOf(core.keys, application, owner.account, salt, code))
  await tx.query(
    `INSERT INTO backup_code (application, account, salt, mac)
     SELECT $1, $2, $3, mac FROM unnest($4::text[]) AS mac`,
    [...key, salt, macs],
  )
}

/**
 * Makes the waiting set the living one when all its letters were handed over: the former set dies, the failures of
 * guessing at it are forgotten (R26, R61). `true` when that has happened now.
 */
export async function settleWaiting(
  queries: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<boolean> {
  const rows = await queries.query(
    `WITH living AS (
       UPDATE backup_set SET contact = waiting_contact, salt = waiting_salt, made_at = waiting_since,
         waiting_contact = NULL, waiting_salt = NULL, waiting_since = NULL, waiting_letters = NULL
       WHERE application = $1 AND account = $2 AND waiting_letters IS NOT NULL AND NOT EXISTS (
         SELECT FROM unnest(waiting_letters) AS letter WHERE NOT EXISTS (
           SELECT FROM outbox WHERE outbox.application = $1 AND outbox.id = letter AND outbox.state = 'sent'))
       RETURNING salt
     ), dead AS (
       DELETE FROM backup_code USING living
       WHERE application = $1 AND account = $2 AND backup_code.salt <> living.salt
     ), renewed AS (
       DELETE FROM factor USING living WHERE application = $1 AND account = $2 AND factor = $3
     )
     SELECT 1 FROM living`,
    [application.id, account, BACKUP_FACTOR],
  )
  return rows.length > 0
}

/** Settles sets that have waited since before `since`: the time of their letters is over, so it is decided now. */
export async function settleWaitingSets(
  store: Store,
  since: number,
  most: number,
): Promise<readonly unknown[]> {
  const sets = await store.query<{ application: string; account: string; waiting_salt: string }>(
    'SELECT application, account, waiting_salt FROM backup_set WHERE waiting_since < $1 LIMIT $2',
    [since, most],
  )
  for (const { application: id, account, waiting_salt } of sets) {
    if (!(await settleWaiting(store, { id }, account)))
      await dropWaiting(store, { id }, account, waiting_salt)
  }
  return sets
}

/** Drops a waiting set whose letters nobody took; the living one stays (R61). */
export async function dropWaiting(
  queries: Queries,
  application: Pick<Application, 'id'>,
  account: string,
  salt: string,
): Promise<void> {
  await queries.query(
    `WITH dropped AS (
       UPDATE backup_set
       SET waiting_contact = NULL, waiting_salt = NULL, waiting_since = NULL, waiting_letters = NULL
       WHERE application = $1 AND account = $2 AND waiting_salt = $3 RETURNING 1
     )
     DELETE FROM backup_code USING dropped WHERE application = $1 AND account = $2 AND salt = $3`,
    [application.id, account, salt],
  )
}

const MAC = `$${FIRST_PARAMETER}`

const BACKUP = attemptStatement(`used AS (
    DELETE FROM backup_code USING gate
    WHERE gate.open AND NOT gate.disabled AND application = $1 AND account = $2 AND mac = ANY (${MAC}::text[])
    RETURNING 1
  ), tried AS (
    SELECT EXISTS (SELECT FROM used) AS ok, NULL::text AS challenge, false AS rebound FROM gate
    WHERE gate.open AND NOT gate.disabled
  )`)

/**
 * Makes an attempt with a backup code, which is used up if it is one of the living set of this contact (R60). An
 * account without a set costs the same work (R90).
 */
export async function attemptBackup(
  core: Core,
  application: Application,
  owner: Owner,
  code: string,
  attempted: Attempt,
  now: number,
): Promise<Attempted | undefined> {
  const set = await findSet(core, application, owner)
  const salt = set?.contact === owner.user ? (set.salt ?? '') : ''
  const macs = allKeys(core.keys).map((key) => macOf(key, application, owner.account, salt, code))
  return attempt(core.store, BACKUP, application, { ...attempted, tellsSuccess: true }, now, [macs])
}

/** How many codes of the living set are left. */
export async function backupCodesLeft(
  queries: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<number> {
  const row = await one<{ left: number }>(
    queries,
    `SELECT count(*)::integer AS left FROM backup_code JOIN backup_set USING (application, account, salt)
     WHERE application = $1 AND account = $2`,
    [application.id, account],
  )
  return row?.left ?? 0
}

interface SetRow {
  readonly contact: string | null
  readonly salt: string | null
  readonly waits: boolean
}

async function findSet(core: Core, application: Application, owner: Owner): Promise<SetRow | undefined> {
  const find = () =>
    one<SetRow>(
      core.store,
      `WITH known AS (INSERT INTO account (application, account) VALUES ($1, $2) ON CONFLICT DO NOTHING)
       SELECT contact, salt, waiting_letters IS NOT NULL AS waits FROM backup_set
       WHERE application = $1 AND account = $2`,
      [application.id, owner.account],
    )
  const found = await find()
  if (!found?.waits) return found
  // Its letters may have left since, by this process or another, and somebody else may be settling it just now.
  await settleWaiting(core.store, application, owner.account)
  return find()
}

function macOf(keys: Keys, application: Application, account: string, salt: string, code: string): string {
  return withKeyId(keys, backupMac(keys.backup, { application: application.id, account, salt, code }))
}
