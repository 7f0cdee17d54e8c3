const DAY_MS = 86_400_000

/** How long a message is kept after it was written. */
export const KEPT_MS = 7 * DAY_MS

/** The number of partitions of the outbox, one for each day in turn: more than the days for which messages are kept. */
export const SLOTS = 12

/** The partition of a message that is written at this time. */
export function slotAt(time: number): number {
  return Math.floor(time / DAY_MS) % SLOTS
}

/** The table of a partition. */
export function slotTable(slot: number): string {
  return `outbox_${slot}`
}
