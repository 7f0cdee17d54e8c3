import { performance } from 'node:perf_hooks'
import type { Request, Response } from 'express'
import { ServiceError } from '../errors.js'
import type { Settings } from '../settings.js'

/** Bounds how many requests of this process wait at once, so that an overloaded app refuses some instead of delaying all. */
export interface Admission {
  /**
   * Takes a place for the request until its response is closed, or returns `false` if all are taken. `admit` then counts the
   * request no second time.
   */
  enter(req: Request, res: Response): boolean
  /** Whether requests wait for the processor, rather than for the service or a store. */
  isSaturated(): boolean
  /**
   * Runs `work`, which waits for the service, a store or the host.
   * @throws {ServiceError} `ERR_MFA_SERVICE_BUSY` at once, if as many requests as the options allow are waiting.
   */
  admit<Result>(req: Request, work: () => Promise<Result>): Promise<Result>
}

/** When a refused request is to be sent again. Most requests wait for less than a second. */
export const BUSY_RETRY_AFTER_SECONDS = 2

/**
 * How many requests are admitted while the processor is the bottleneck. More of them would not be answered sooner, but would
 * all wait longer.
 */
const MOST_WHEN_SATURATED = 32

/**
 * Admits as many requests at once as the option `maxConcurrentRequests` says, and fewer while the event loop has been busy
 * without a pause.
 */
export function admissionWith(
  { maxConcurrentRequests, logger }: Pick<Settings, 'maxConcurrentRequests' | 'logger'>,
  isSaturated: () => boolean = eventLoopSaturation(),
): Admission {
  const entered = new WeakSet<Request>()
  let waiting = 0
  let isOverloaded = false

  const take = (): boolean => {
    const most = isSaturated() ? Math.min(MOST_WHEN_SATURATED, maxConcurrentRequests) : maxConcurrentRequests
    if (waiting < most) {
      waiting++
      return true
    }
    // Each refusal would be a line, just when there is too much work.
    if (!isOverloaded) logger.error(`countersign: ${busyText(waiting)}`)
    isOverloaded = true
    return false
  }
  const leave = () => {
    waiting--
    if (waiting === 0) isOverloaded = false
  }

  return {
    isSaturated,
    enter(req, res) {
      if (!take()) return false
      entered.add(req)
      res.once('close', leave)
      return true
    },
    async admit(req, work) {
      if (entered.has(req)) return work()
      if (!take()) throw busy(waiting)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

function busy(waiting: number): ServiceError {
  return new ServiceError('ERR_MFA_SERVICE_BUSY', busyText(waiting), {
    retryAfterSeconds: BUSY_RETRY_AFTER_SECONDS,
  })
}

function busyText(waiting: number): string {
  return `${waiting} MFA requests are waiting in this process, so others are refused for a moment. Check whether the MFA service or a store is slow, or start more processes. The bound is the option maxConcurrentRequests, and less while the processor is busy all the time. Mount mfa.admission before express-session, so that a refusal costs little.`
}

/** How long the event loop is observed at a time. A burst that is over sooner is no overload. */
const WINDOW_MS = 500

/** The share of a window in which the event loop was busy, from which on requests wait for the processor. */
const SATURATED = 0.98

/** Returns a function that says whether the event loop of this process was busy all the time in the last window. */
export function eventLoopSaturation(): () => boolean {
  let before = performance.eventLoopUtilization()
  let since = performance.now()
  let isSaturated = false
  return () => {
    const now = performance.now()
    if (now - since < WINDOW_MS) return isSaturated
    const reading = performance.eventLoopUtilization()
    isSaturated = performance.eventLoopUtilization(reading, before).utilization >= SATURATED
    before = reading
    since = now
    return isSaturated
  }
}
