import { maskForOwner } from '../protocol/destination.js'
import { type Strength, strengthOf } from '../protocol/strength.js'
import type { MfaRecord } from '../session/record.js'
import { deliver } from './deliver.js'
import { type Deps, type Refused, refuse } from './deps.js'
import { factorBinding } from './factor-binding.js'
import { backupShown, backupTarget, callerOf, type MfaUser } from './user.js'

/** New backup codes were sent; the old ones are void. */
export interface BackupSent {
  readonly outcome: 'sent'
  /** The masked contact that receives them. */
  readonly to: string
  readonly count?: number
  /** How hard the codes are to take over: as hard as the contact that receives them (R93). */
  readonly strength: Strength
}

/** Has the service create backup codes and deliver them to the user. */
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
  await deps.attempts.enable(factorBinding(user.userId, 'backup', target.contact))
  deps.backupCodes.forget(user.userId)
  await deps.sentBackupCodes.remember(user.userId, count)
  deps.emit({ type: 'backup_codes_sent', userId: user.userId })
  return {
    outcome: 'sent',
    to: maskForOwner(target.contact),
    strength: strengthOf(backupShown(user) ?? 'backup'),
    ...(count !== undefined && { count }),
  }
}
