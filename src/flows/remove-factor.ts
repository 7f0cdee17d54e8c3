import type { Factor } from '../protocol/factor.js'
import { backupOwner } from './backup-target.js'
import { type Deps, type Refused, refuse } from './deps.js'
import { findKnownFactors, forgetKnownFactors } from './known-factors.js'
import { translateRefusal } from './refusal.js'
import { askService, createCaller, type MfaUser } from './user.js'

/** The factors that a user can remove here: the authenticator app, or all backup codes. */
export type RemovableFactor = 'app' | 'backup'

/** The factor is gone. `none`: the service had no such factor, since another request removed it, for example. */
export interface Removed {
  readonly outcome: 'removed' | 'none'
}

/** The user's authenticator app, if there is one. An account has one app. */
export function findApp({ factors }: MfaUser): Factor | undefined {
  return factors.find(({ method }) => method === 'app')
}

/** Whether the service removes factors: it has the function, and says which factors the account has. */
export async function canRemoveFactors(deps: Deps, user: MfaUser): Promise<boolean> {
  return deps.service.removeFactor !== undefined && (await findKnownFactors(deps, user)) !== undefined
}

/** Has the service remove a factor. Removing the app revokes the trusted devices, as replacing it does. */
export async function removeFactor(
  deps: Deps,
  user: MfaUser,
  factor: RemovableFactor,
): Promise<Removed | Refused> {
  const { userId } = user
  const contact = factor === 'app' ? findApp(user)?.contact : backupOwner(user)?.contact
  if (!contact) return refuse({ code: 'unknown_factor' })
  const answer = await askService(
    deps,
    userId,
    async () => await deps.service.removeFactor?.({ contact, factor, ...createCaller(user) }),
  )
  if (!answer) return refuse({ code: 'method_off' })
  if (answer.outcome === 'refused') return refuse(translateRefusal(answer.refusal))
  forgetKnownFactors(user)
  if (factor === 'app') {
    await deps.appOwners.forget(contact)
    await revokeDevices(deps, userId, 'factor_change')
  } else {
    await forgetBackupCodes(deps, user)
  }
  if (answer.outcome === 'removed') {
    deps.emit({ type: 'factor_removed', userId, method: factor })
  }
  return { outcome: answer.outcome }
}

/** The service has no backup codes of the user any more. */
export async function forgetBackupCodes(
  { backupCodes, sentBackupCodes }: Pick<Deps, 'backupCodes' | 'sentBackupCodes'>,
  { userId }: MfaUser,
): Promise<void> {
  backupCodes.forget(userId)
  await sentBackupCodes.remember(userId, 0)
}

/** Ends all sessions and trusted devices of a user. @throws {TypeError} if the app cannot end sessions */
export async function secureAccount(
  { sessionsValidAfter, devices, emit }: Pick<Deps, 'sessionsValidAfter' | 'devices' | 'emit'>,
  userId: string,
  why: 'not_me' | 'secured',
): Promise<void> {
  // Sessions first: a device that one of them trusts in the meantime is void already.
  await sessionsValidAfter.set(userId, why)
  const count = await devices.revokeAll(userId)
  emit({ type: 'account_secured', userId })
  if (count > 0) emit({ type: 'devices_revoked', userId, count, why: 'not_me' })
}

/** Revokes all trusted devices of a user, after the use of a backup code, a change of factors (R63, R66) or a reset. */
export async function revokeDevices(
  { devices, emit }: Pick<Deps, 'devices' | 'emit'>,
  userId: string,
  why: 'backup_code' | 'factor_change' | 'recovery' | 'help_desk',
): Promise<void> {
  const count = await devices.revokeAll(userId)
  if (count > 0) emit({ type: 'devices_revoked', userId, count, why })
}
