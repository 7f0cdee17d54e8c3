import { medians, ratios, sideBySide } from './side-by-side.mjs'

/**
 * Measures the first side beside each of the others, and returns a row of the table for each of them.
 * @param sides `{ name, app, requests, check }[]`, see `sideBySide`
 * @param targets the ratio to reach for each of the other sides, by name.
 */
export async function compare(bench, { what, sides, targets = {}, note, warmUpRounds = bench.warmUpRounds }) {
  const measured = await sideBySide(sides, { rounds: bench.rounds, warmUpRounds })
  const [ours, ...others] = sides
  return others.map(({ name }) => ({
    ...comparison(what, name, measured[ours.name], measured[name], targets[name]),
    ...(note && { note }),
  }))
}

/**
 * A row of the table: ours beside theirs. Whether the target is reached is judged by processor time, or `by` the `rate`
 * where others work beside the server's process, such as a database.
 */
export function comparison(what, against, ours, theirs, target, by = 'processor') {
  const ratio = ratios(ours, theirs)
  return {
    what,
    against,
    ours: medians(ours),
    theirs: medians(theirs),
    ratio,
    ...(target !== undefined && { target, by, reached: ratio[by] >= target }),
  }
}

/** A row of the table with a single figure. `most` or `least` is its target. */
export function figure(what, value, unit, { most, least, note, against } = {}) {
  const reached = most !== undefined ? value <= most : least !== undefined ? value >= least : undefined
  return {
    what,
    value,
    unit,
    ...(against && { against }),
    ...(most !== undefined && { target: `at most ${most} ${unit}`.trim() }),
    ...(least !== undefined && { target: `at least ${least} ${unit}`.trim() }),
    ...(reached !== undefined && { reached }),
    ...(note && { note }),
  }
}
