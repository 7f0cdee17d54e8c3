import { ServiceError } from '../errors.js'
import type { Deps } from './deps.js'

/**
 * Asks the service. When it fails, by rejecting or by throwing at once, the host is told (R89) and `takeBack` undoes
 * what was counted beforehand; an error of any other kind than a `ServiceError` is the host's own to find.
 * @throws whatever the service failed with.
 */
export async function askService<Answer>(
  { tell }: Pick<Deps, 'tell'>,
  userId: string,
  call: () => Promise<Answer>,
  takeBack?: (error: unknown) => Promise<void>,
): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof ServiceError) tell({ type: 'service_failed', userId, errorCode: error.code })
    await takeBack?.(error)
    throw error
  }
}
