import { DAY_MS } from '../time.js'

/** How long a message is kept after it was written. */
export const KEPT_MS = 7 * DAY_MS

/** For how long messages are written to the same partition of the outbox. */
export const SLOT_MS = 2 * DAY_MS

/** The number of these partitions, which take turns. Together they last longer than messages are kept. */
export const SLOTS = 6

/** The partition of a message that is written at this time. */
export function getSlot(time: number): number {
  return Math.floor(time / SLOT_MS) % SLOTS
}

/** The table of a partition. */
export function slotTable(slot: number): string {
  return `outbox_${slot}`
}
