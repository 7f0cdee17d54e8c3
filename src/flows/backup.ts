import { maskContact } from '../protocol/destination.js'
import type { MfaRecord } from '../session/record.js'
import { deliver } from './deliver.js'
import { callerOf, type Deps, type Refused, refuse } from './deps.js'
import { backupTarget, type Person } from './person.js'

/** Backup codes are on their way; the old ones are dead. */
export interface BackupSent {
  readonly outcome: 'sent'
  /** Masked. */
  readonly to: string
  readonly count?: number
}

/** Has the service make backup codes and deliver them to the person. */
export async function sendBackupCodes(
  deps: Deps,
  person: Person,
  record: MfaRecord,
): Promise<BackupSent | Refused> {
  const target = backupTarget(person)
  if (!target) return refuse({ code: 'contact_needed' })
  const message = { userId: person.userId, slot: `${record.transaction}:backup` }
  const delivered = await deliver(deps, message, () =>
    deps.service.sendBackupCodes({ ...target, ...callerOf(person) }),
  )
  if (delivered.outcome === 'refused') {
    deps.tell({ type: 'refused', userId: person.userId, code: delivered.refusal.code })
    return delivered
  }
  const { count } = delivered.answer
  deps.tell({ type: 'backup_codes_sent', userId: person.userId })
  return {
    outcome: 'sent',
    to: maskContact(target.contact),
    ...(count !== undefined && { count }),
  }
}
