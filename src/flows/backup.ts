import { randomUUID } from 'node:crypto'
import type { Contact } from '../protocol/contact.js'
import { getStrength, type Strength } from '../protocol/factor.js'
import { maskForOwner } from '../protocol/masked-contact.js'
import type { MfaRecord } from '../session/record.js'
import { backupOwner, backupShown, backupTarget } from './backup-target.js'
import { deliver } from './deliver.js'
import { type Deps, type Refused, refuse, serviceVerb } from './deps.js'
import { forgetKnownFactors } from './known-factors.js'
import { createCaller, factorBinding, type MfaUser } from './user.js'

/** New backup codes were sent; the old ones are void. */
export interface BackupSent {
  readonly outcome: 'sent'
  /** The masked contact that receives them. */
  readonly to: string
  readonly count?: number
  /** How hard the codes are to take over: as hard as the contact that receives them (R93). */
  readonly strength: Strength
}

/** New backup codes for a page that shows them once; the old ones are void. */
export interface BackupCreated {
  readonly outcome: 'created'
  /** As the user writes them down. */
  readonly codes: readonly string[]
  /** How hard the codes are to take over (R93). */
  readonly strength: Strength
}

const CANNOT_SHOW = { outcome: 'refused', refusal: { reason: 'method_off' } } as const

/** Has the service create backup codes for a page. They count among the user's messages, so that they are limited. */
export async function createBackupCodes(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
): Promise<BackupCreated | Refused> {
  const owner = backupOwner(user)
  if (!owner) return refuse({ code: 'enrollment_required' })
  const { contact } = owner
  // Nothing is sent, so the next codes need no wait.
  const message = { userId: user.userId, transaction: record.transaction, slot: randomUUID() }
  const created = await deliver(
    deps,
    message,
    async () => (await deps.service.createBackupCodes?.({ contact, ...createCaller(user) })) ?? CANNOT_SHOW,
  )
  if (created.outcome === 'refused') return created
  const { codes } = created.answer
  await forgetReplaced(deps, user, contact, codes.length)
  deps.emit({ type: 'backup_codes_shown', userId: user.userId })
  return { outcome: 'created', codes, strength: getStrength('page_backup') }
}

/** Has the service send new backup codes, which count as one message. */
export async function sendBackupCodes(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
): Promise<BackupSent | Refused> {
  const target = backupTarget(user)
  if (!target) return refuse({ code: 'contact_needed' })
  const message = { userId: user.userId, transaction: record.transaction, slot: 'backup' }
  const delivered = await deliver(deps, message, () =>
    serviceVerb(deps.service, 'sendBackupCodes')({ ...target, ...createCaller(user) }),
  )
  if (delivered.outcome === 'refused') return delivered
  const { count } = delivered.answer
  await forgetReplaced(deps, user, target.contact, count)
  deps.emit({ type: 'backup_codes_sent', userId: user.userId })
  return {
    outcome: 'sent',
    to: maskForOwner(target.contact),
    strength: getStrength(backupShown(user) ?? 'backup'),
    ...(count !== undefined && { count }),
  }
}

/** Forgets what was known about the codes before: that they were disabled, how many were left, and where they came from. */
async function forgetReplaced(
  deps: Deps,
  user: MfaUser,
  contact: Contact,
  count: number | undefined,
): Promise<void> {
  await deps.attempts.enable(user.userId, factorBinding(user.userId, 'backup', contact))
  await deps.sentBackupCodes.remember(user.userId, count)
  forgetKnownFactors(user)
  deps.backupCodes.forget(user.userId)
}
