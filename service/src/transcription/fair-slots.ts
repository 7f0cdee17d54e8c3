/** How long whoever was turned away is waited for, in milliseconds: longer than it was asked to wait. */
const PLACE_KEPT_MS = 30_000

/** Room for a few things at once, shared by several applications. */
export interface FairSlots {
  /** A slot, as what gives it back; nothing when there is none for this application now. */
  take(application: string): (() => void) | undefined
}

/**
 * `most` slots. An application that was turned away has a place in the queue for half a minute: a slot that gets free is
 * for the first in it, so that one application cannot take every slot again before another has had its turn. As long as
 * only one asks, all slots are its own.
 */
export function fairSlots(most: number): FairSlots {
  let taken = 0
  const places = new Map<string, number>()

  function ahead(application: string): number {
    const now = Date.now()
    for (const [other, keptUntil] of places) if (keptUntil <= now) places.delete(other)
    const place = [...places.keys()].indexOf(application)
    return place < 0 ? places.size : place
  }

  return {
    take(application) {
      if (taken + ahead(application) >= most) {
        places.set(application, Date.now() + PLACE_KEPT_MS)
        return undefined
      }
      places.delete(application)
      taken++
      return () => void taken--
    },
  }
}
