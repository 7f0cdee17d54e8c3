import { maskContact } from '../protocol/destination.js'
import type { MfaRecord } from '../session/record.js'
import { deliver } from './deliver.js'
import { callerOf, type Deps, type Refused, refuse } from './deps.js'
import { backupTarget, type MfaUser } from './user.js'

/** Backup codes are on their way; the old ones are dead. */
export interface BackupSent {
  readonly outcome: 'sent'
  /** Masked. */
  readonly to: string
  readonly count?: number
}

/** Has the service make backup codes and deliver them to the user. */
export async function sendBackupCodes(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
): Promise<BackupSent | Refused> {
  const target = backupTarget(user)
  if (!target) return refuse({ code: 'contact_needed' })
  const message = { userId: user.userId, slot: `${record.transaction}:backup` }
  const delivered = await deliver(deps, message, () =>
    deps.service.sendBackupCodes({ ...target, ...callerOf(user) }),
  )
  if (delivered.outcome === 'refused') {
    deps.emit({ type: 'refused', userId: user.userId, code: delivered.refusal.code })
    return delivered
  }
  const { count } = delivered.answer
  deps.emit({ type: 'backup_codes_sent', userId: user.userId })
  return {
    outcome: 'sent',
    to: maskContact(target.contact),
    ...(count !== undefined && { count }),
  }
}
