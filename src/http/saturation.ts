import { performance } from 'node:perf_hooks'

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
