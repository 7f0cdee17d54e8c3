/** How long a place in the queue is kept, in milliseconds: longer than callers are asked to wait. */
const PLACE_KEPT_MS = 30_000

/**
 * `count` slots. An application that was turned away keeps a place in the queue for half a minute, and a slot that
 * becomes free is reserved for the first in the queue, so that one application cannot take every slot again before the
 * others had their turn. A single application can use all slots.
 */
export function fairSlots(count: number) {
  let taken = 0
  const queue = new Map<string, number>()

  function countApplicationsAhead(application: string): number {
    const now = Date.now()
    for (const [other, keptUntil] of queue) if (keptUntil <= now) queue.delete(other)
    const place = [...queue.keys()].indexOf(application)
    return place < 0 ? queue.size : place
  }

  return {
    /** Takes a slot and returns a function that frees it; `undefined` when none is available for this application now. */
    take(application: string): (() => void) | undefined {
      if (taken + countApplicationsAhead(application) >= count) {
        queue.set(application, Date.now() + PLACE_KEPT_MS)
        return undefined
      }
      queue.delete(application)
      taken++
      return () => void taken--
    },
  }
}
