import { LimitsStoreError } from '../errors.js'
import type { RouteContext } from './context.js'

/** Seconds until the account's lock ends; 0 when it is not locked, or while the store fails. */
export async function lockedForSeconds({ deps, user }: RouteContext): Promise<number> {
  const limits = await unlessStoreFails(deps, () => deps.attempts.limitsOf(user.userId, []))
  return limits?.lockedForSeconds ?? 0
}

/** Whether a challenge has no attempts left; false while the store fails. */
export async function isExhausted({ deps }: Pick<RouteContext, 'deps'>, challenge: string): Promise<boolean> {
  return (await unlessStoreFails(deps, () => deps.attempts.left(challenge))) === 0
}

/** A page is shown without what the store knows. A code is refused in any case while the store fails. */
async function unlessStoreFails<Result>(
  { settings }: RouteContext['deps'],
  read: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof LimitsStoreError)) throw error
    settings.logger.error(`countersign: ${error.message}`, error.cause ?? '')
    return undefined
  }
}
