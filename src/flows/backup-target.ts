import type { Contact } from '../protocol/contact.js'
import { BACKUP_METHOD, type BackupMethod, isDelivered } from '../protocol/methods.js'
import type { MfaUser } from './user.js'

/** The contact that receives backup codes, always the same for the same factors: email, else a phone number. */
export function backupTarget(
  user: Pick<MfaUser, 'existing'>,
): { method: BackupMethod; contact: Contact } | undefined {
  for (const method of ['email', 'sms', 'dual'] as const) {
    const factor = user.existing.find(
      (factor) => !factor.unusable && isDelivered(factor.method) && BACKUP_METHOD[factor.method] === method,
    )
    if (factor) return { method, contact: factor.contact }
  }
  return undefined
}

/** The contact under which backup codes are checked. Codes of a page are valid for every contact of the account. */
export function backupOwner(user: MfaUser): { method: BackupMethod | 'app'; contact: Contact } | undefined {
  const target = backupTarget(user)
  if (target) return target
  const contact = user.existing[0]?.contact ?? user.resetContact
  return contact && { method: 'app', contact }
}

/** The factor that a backup code sent to this user counts as, by the contact that receives it; `undefined` if the user can have none (R93). */
export function backupShown(user: Pick<MfaUser, 'existing'>): 'backup' | 'phone_backup' | undefined {
  const target = backupTarget(user)
  return target && (target.method === 'sms' ? 'phone_backup' : 'backup')
}
