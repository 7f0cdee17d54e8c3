import type { Deps } from './deps.js'

/** Ends the trust in all of a user's devices, because of what has just happened (R63, R66). */
export async function revokeDevices(
  { devices, tell }: Pick<Deps, 'devices' | 'tell'>,
  userId: string,
  why: 'backup_code' | 'factor_change',
): Promise<void> {
  const count = (await devices?.revokeAll(userId)) ?? 0
  if (count > 0) tell({ type: 'devices_revoked', userId, count, why })
}
