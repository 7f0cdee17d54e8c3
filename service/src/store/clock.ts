import type { Queries } from './store.js'

/** From which difference on the clocks of the database and of this machine need a person. */
export const MAX_CLOCK_DIFFERENCE_MS = 2_000

/** By how much the clock of the database is ahead of that of this machine, in milliseconds. */
export async function clockDifferenceMs(store: Queries): Promise<number> {
  const asked = Date.now()
  const [row] = await store.query<{ time: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time',
  )
  return (row?.time ?? asked) - (asked + Date.now()) / 2
}
