import type { Response } from 'express'
import { ServiceError } from '../../errors.js'
import type { Settings } from '../../options/settings.js'

/** Bounds how many MFA requests of this process wait at once, so that an overloaded app refuses some instead of delaying all. */
export interface Admission {
  /** Counts a request as arriving until its response is closed: many reach `admit` together. `false`: too many arrive or wait. */
  enter(res: Response): boolean
  /** Runs `work`, which waits for the service, a store or the host. Throws `ERR_MFA_SERVICE_BUSY` at once while too many wait. */
  admit<Result>(work: () => Promise<Result>): Promise<Result>
}

/** When a refused request is to be sent again. Most requests wait for less than a second. */
export const BUSY_RETRY_AFTER_SECONDS = 2

/** How many requests of a process may wait at once: more than a burst brings, and few enough that the last one waits less than a second. */
const MAX_WAITING_REQUESTS = 256

/** The admission of one process, or of one app in it. */
export function createAdmission({ logger }: Pick<Settings, 'logger'>): Admission {
  let arriving = 0
  let waiting = 0
  let isReported = false
  const isFull = (requests: number) => {
    if (requests < MAX_WAITING_REQUESTS) return false
    // Each refusal would be a line, just when there is too much work.
    if (!isReported) logger.error(`countersign: ${BUSY_TEXT}`)
    isReported = true
    return true
  }
  return {
    enter(res) {
      if (isFull(Math.max(arriving, waiting))) return false
      arriving++
      let isArriving = true
      const recordArrival = () => {
        if (isArriving) arriving--
        isArriving = false
      }
      // A short body comes with the headers. One that does not may never come, and takes no place.
      setImmediate(() => res.req.complete || recordArrival())
      res.once('close', recordArrival)
      return true
    },
    async admit(work) {
      if (isFull(waiting)) {
        throw new ServiceError('ERR_MFA_SERVICE_BUSY', BUSY_TEXT, {
          retryAfterSeconds: BUSY_RETRY_AFTER_SECONDS,
        })
      }
      waiting++
      try {
        return await work()
      } finally {
        waiting--
        if (waiting === 0) isReported = false
      }
    },
  }
}

const BUSY_TEXT = `${MAX_WAITING_REQUESTS} MFA requests are waiting in this process, so others are refused for a moment. Check whether the MFA service or a store is slow, or start more processes. Mount mfa.admission before express-session, so that a refusal costs little.`
