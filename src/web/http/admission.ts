import { performance } from 'node:perf_hooks'
import type { Request, Response } from 'express'
import { ServiceError } from '../../errors.js'
import type { Settings } from '../../options/settings.js'

/** Bounds how long requests of this process wait, so that an overloaded app refuses some instead of delaying all. */
export interface Admission {
  /**
   * Admits the request until its response is closed, or returns `false` if it is to be refused. `admit` then counts the request
   * no second time.
   */
  enter(req: Request, res: Response): boolean
  /** Whether requests wait for the processor, rather than for the service or a store. */
  isSaturated(): boolean
  /**
   * Runs `work`, which waits for the service, a store or the host.
   * @throws {ServiceError} `ERR_MFA_SERVICE_BUSY` at once, if the request would wait longer than the options allow, or if as many
   * requests as they allow are waiting.
   */
  admit<Result>(req: Request, work: () => Promise<Result>): Promise<Result>
}

/** When a refused request is to be sent again. Most requests wait for less than a second. */
export const BUSY_RETRY_AFTER_SECONDS = 2

/**
 * So many requests are admitted whatever they cost. If so few of them would wait long, then for other work of the app, and refusing
 * them would not shorten it.
 */
const ALWAYS_ADMITTED = 16

/**
 * Admits a request unless it would wait for the processor longer than `maxExpectedWait`, or `maxConcurrentRequests` are admitted
 * already. From the first refusal on, half of that wait is allowed until none is waiting: those that are refused delay the others too,
 * before they are read.
 */
export function admissionWith(
  {
    maxConcurrentRequests,
    maxExpectedWaitMs,
    logger,
  }: Pick<Settings, 'maxConcurrentRequests' | 'maxExpectedWaitMs' | 'logger'>,
  clock: LoopClock = eventLoopClock,
): Admission {
  const entered = new WeakSet<Request>()
  const cost = requestCost(clock)
  let waiting = 0
  let isOverloaded = false

  const take = (): boolean => {
    const mostMs = isOverloaded ? maxExpectedWaitMs / 2 : maxExpectedWaitMs
    const isFree = waiting * cost.ms() <= mostMs || waiting < ALWAYS_ADMITTED
    if (isFree && waiting < maxConcurrentRequests) {
      waiting++
      cost.begin()
      return true
    }
    // Each refusal would be a line, just when there is too much work.
    if (!isOverloaded) logger.error(`countersign: ${busyText(waiting)}`)
    isOverloaded = true
    return false
  }
  const leave = () => {
    waiting--
    cost.end()
    if (waiting === 0) isOverloaded = false
  }

  return {
    isSaturated: cost.isSaturated,
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
  return `${waiting} MFA requests are waiting in this process, so others are refused for a moment. Check whether the MFA service or a store is slow, or start more processes. The bounds are the options maxConcurrentRequests, and maxExpectedWait while the processor is busy all the time. Mount mfa.admission before express-session, so that a refusal costs little.`
}

/** What is read of the event loop of this process. */
export interface LoopClock {
  /** A monotonic time in milliseconds. */
  nowMs(): number
  /** How long the event loop has worked since the process started, in milliseconds. */
  busyMs(): number
}

const eventLoopClock: LoopClock = {
  nowMs: () => performance.now(),
  busyMs: () => performance.eventLoopUtilization().active,
}

/** The share of a window in which the event loop was busy, from which on requests wait for the processor. */
const SATURATED = 0.98

/** Looks at the event loop in windows that follow each other, and last `lengthMs` or until they are next asked for. */
function windowsOf({ nowMs, busyMs }: LoopClock, lengthMs: number) {
  let since = nowMs()
  let busyBefore = busyMs()
  /** The window that has just ended, if one has. */
  return () => {
    const now = nowMs()
    const elapsedMs = now - since
    if (elapsedMs < lengthMs) return undefined
    const busy = busyMs()
    const isSaturated = busy - busyBefore >= elapsedMs * SATURATED
    since = now
    busyBefore = busy
    return { elapsedMs, isSaturated }
  }
}

/** How long the event loop is observed to say whether requests wait for it: shorter than a crowd takes to arrive. */
const SATURATION_WINDOW_MS = 100

/** How long the event loop is observed to say what a request costs. A burst that is over sooner is no overload. */
const COST_WINDOW_MS = 500

/** Measures what a request costs, as the time that the event loop was busy for each request that began and ended. */
function requestCost(clock: LoopClock) {
  const saturationWindow = windowsOf(clock, SATURATION_WINDOW_MS)
  const costWindow = windowsOf(clock, COST_WINDOW_MS)
  let begun = 0
  let ended = 0
  /** Of the last window and of the one before: 0 if the event loop was idle in between, or if nothing can be said. */
  let costs: readonly [last: number, before: number] = [0, 0]
  let isSaturated = false

  const observe = () => {
    isSaturated = saturationWindow()?.isSaturated ?? isSaturated
    const window = costWindow()
    if (!window) return
    // A request of which a window saw the beginning or the end alone counts half.
    const requests = (begun + ended) / 2
    costs = [window.isSaturated && requests > 0 ? window.elapsedMs / requests : 0, costs[0]]
    begun = ended = 0
  }

  return {
    begin: () => void begun++,
    end: () => void ended++,
    isSaturated(): boolean {
      observe()
      return isSaturated
    },
    /**
     * The milliseconds that the event loop takes for a request, with all other work of the app in that time, while it is busy
     * without a pause: with as many requests admitted, a further one waits for as many times that. Otherwise 0. It is the lower one of two
     * windows, since V8 compiles the code of a new process in the first one, and something else may block the loop in one.
     */
    ms(): number {
      observe()
      return Math.min(...costs)
    },
  }
}
