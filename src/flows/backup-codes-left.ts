import { withTimeout } from '../timeout.js'
import { callerOf, type Deps } from './deps.js'
import { backupTarget, type MfaUser } from './user.js'

/** How long a page waits for the service. */
const MAX_WAIT_MS = 500

/**
 * How many backup codes a user has: `some` if the number is unknown, `undefined` if it is unknown whether there are any. The
 * service says, or the plugin remembers which ones it had sent. Never fails, and takes at most half a second for each.
 */
export async function backupCodesLeft(deps: Deps, user: MfaUser): Promise<number | 'some' | undefined> {
  const target = backupTarget(user)
  if (!target) return 0
  const { contact } = target
  const ask = async () => deps.service.factorsOf?.({ contact, ...callerOf(user) })
  const answer = await withTimeout(ask(), MAX_WAIT_MS).catch(() => undefined)
  if (answer) return answer.backupCodesLeft
  return deps.sentBackupCodes.left(user.userId).catch(() => undefined)
}
