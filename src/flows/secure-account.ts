import type { Deps } from './deps.js'

/** Ends everything of a user that began until now: sessions, half-logins, and the trust in their devices. */
export async function secureAccount(
  { cutoffs, devices, tell }: Pick<Deps, 'cutoffs' | 'devices' | 'tell'>,
  userId: string,
): Promise<void> {
  // Sessions first: what is trusted by one of them afterwards finds itself void.
  await cutoffs?.set(userId)
  const count = (await devices?.revokeAll(userId)) ?? 0
  tell({ type: 'account_secured', userId })
  if (count > 0) tell({ type: 'devices_revoked', userId, count, why: 'not_me' })
}
