import type { Application } from '../application.js'
import type { Core } from '../core.js'
import { backupMac, newBackupCode, newBackupSalt } from '../secrets/backup-code.js'
import { one, type Queries } from '../store/store.js'

/** The name of the backup codes among an account's factors. */
export const BACKUP_FACTOR = 'BACKUP'

/** Makes a set of codes for the contact that will receive them; the account's former set dies (R61). */
export async function makeBackupSet(
  core: Core,
  tx: Queries,
  application: Application,
  owner: { readonly account: string; readonly user: string },
  now: number,
): Promise<string[]> {
  const { backupCodes, backupCodeLength } = application.limits
  const salt = newBackupSalt()
  const codes = Array.from({ length: backupCodes }, () => newBackupCode(backupCodeLength))
  const key = [application.id, owner.account]
  await tx.query('DELETE FROM backup_code WHERE application = $1 AND account = $2', key)
  await tx.query(
    `INSERT INTO backup_set (application, account, contact, salt, made_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (application, account) DO UPDATE
     SET contact = EXCLUDED.contact, salt = EXCLUDED.salt, made_at = EXCLUDED.made_at`,
    [...key, owner.user, salt, now],
  )
  const macs = codes.map((code) =>
    backupMac(core.keys.backup, { application: application.id, account: owner.account, salt, code }),
  )
  await tx.query(
    'INSERT INTO backup_code (application, account, mac) SELECT $1, $2, mac FROM unnest($3::text[]) AS mac',
    [...key, macs],
  )
  return codes
}

/**
 * Uses a backup code up: `true` when it was one of the living set of this contact. An account without a set costs
 * the same work (R90).
 */
export async function useBackupCode(
  core: Core,
  tx: Queries,
  application: Application,
  owner: { readonly account: string; readonly user: string },
  code: string,
): Promise<boolean> {
  const set = await one<{ salt: string }>(
    tx,
    'SELECT salt FROM backup_set WHERE application = $1 AND account = $2 AND contact = $3',
    [application.id, owner.account, owner.user],
  )
  const salt = set?.salt ?? ''
  const mac = backupMac(core.keys.backup, { application: application.id, account: owner.account, salt, code })
  const row = await one(
    tx,
    'DELETE FROM backup_code WHERE application = $1 AND account = $2 AND mac = $3 RETURNING mac',
    [application.id, owner.account, mac],
  )
  return row !== undefined
}
