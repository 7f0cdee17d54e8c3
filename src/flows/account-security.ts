import type { Deps } from './deps.js'

/** Ends everything of a user that began until now: sessions, half-logins, and the trust in their devices. */
export async function secureAccount(
  { sessionsValidAfter, devices, emit }: Pick<Deps, 'sessionsValidAfter' | 'devices' | 'emit'>,
  userId: string,
): Promise<void> {
  // Sessions first: what is trusted by one of them afterwards finds itself void.
  await sessionsValidAfter?.set(userId)
  const count = (await devices?.revokeAll(userId)) ?? 0
  emit({ type: 'account_secured', userId })
  if (count > 0) emit({ type: 'devices_revoked', userId, count, why: 'not_me' })
}

/** Ends the trust in all of a user's devices, because of what has just happened (R63, R66). */
export async function revokeDevices(
  { devices, emit }: Pick<Deps, 'devices' | 'emit'>,
  userId: string,
  why: 'backup_code' | 'factor_change',
): Promise<void> {
  const count = (await devices?.revokeAll(userId)) ?? 0
  if (count > 0) emit({ type: 'devices_revoked', userId, count, why })
}
