import { ServiceError } from '../errors.js'
import type { Settings } from '../settings.js'

/** Bounds how many requests of this process wait at once, so that an overloaded app refuses some instead of delaying all. */
export interface Admission {
  /**
   * Runs `work`, which waits for the service, a store or the host.
   * @throws {ServiceError} `ERR_MFA_SERVICE_BUSY` at once, if as many requests as the options allow are waiting.
   */
  admit<Result>(work: () => Promise<Result>): Promise<Result>
}

/** When a refused request is to be sent again. Most requests wait for less than a second. */
const RETRY_AFTER_SECONDS = 2

/** Admits as many requests at once as the option `maxConcurrentRequests` says. */
export function admissionWith({
  maxConcurrentRequests: most,
  logger,
}: Pick<Settings, 'maxConcurrentRequests' | 'logger'>): Admission {
  let waiting = 0
  let isOverloaded = false

  return {
    async admit(work) {
      if (waiting >= most) {
        const error = busy(most)
        // Each refusal would be a line, just when there is too much work.
        if (!isOverloaded) logger.error(`countersign: ${error.message}`)
        isOverloaded = true
        throw error
      }
      waiting++
      try {
        return await work()
      } finally {
        waiting--
        if (waiting === 0) isOverloaded = false
      }
    },
  }
}

function busy(most: number): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_BUSY',
    `${most} MFA requests are waiting in this process, so others are refused for a moment. Check whether the MFA service or a store is slow, or start more processes; the option maxConcurrentRequests is the bound.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}
