import { HostError } from '../errors.js'
import type { Settings } from '../settings.js'

/**
 * The host's id of a user.
 * @throws {HostError} when the user has none.
 */
export function userIdOf(user: Express.User, settings: Settings): string {
  const id: unknown = settings.userId ? settings.userId(user) : Reflect.get(user, 'id')
  if ((typeof id === 'string' && id !== '') || Number.isFinite(id) || typeof id === 'bigint')
    return String(id)
  throw new HostError(
    'ERR_MFA_USER_ID',
    'The user has no id. Set the option userId to a function such as (user) => user.accountNumber, which returns a string or a number that never changes.',
  )
}
