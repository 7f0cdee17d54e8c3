import type { Deps } from './deps.js'

/** Ends all sessions, pending logins and trusted devices of a user. */
export async function secureAccount(
  { sessionsValidAfter, devices, emit }: Pick<Deps, 'sessionsValidAfter' | 'devices' | 'emit'>,
  userId: string,
): Promise<void> {
  // Sessions first: a device that one of them trusts in the meantime is void already.
  await sessionsValidAfter?.set(userId)
  const count = (await devices?.revokeAll(userId)) ?? 0
  emit({ type: 'account_secured', userId })
  if (count > 0) emit({ type: 'devices_revoked', userId, count, why: 'not_me' })
}

/** Revokes all trusted devices of a user, after the use of a backup code or a change of factors (R63, R66). */
export async function revokeDevices(
  { devices, emit }: Pick<Deps, 'devices' | 'emit'>,
  userId: string,
  why: 'backup_code' | 'factor_change',
): Promise<void> {
  const count = (await devices?.revokeAll(userId)) ?? 0
  if (count > 0) emit({ type: 'devices_revoked', userId, count, why })
}
