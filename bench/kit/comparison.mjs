import { medians, ratios, sideBySide } from './side-by-side.mjs'

/**
 * Measures the first side beside each of the others, and beside itself in a second process: what differs there is noise.
 * @param sides functions that start a side, see `sideBySide`; the name that they are given, if any, replaces the side's own.
 * @returns the rounds of the first side, of its second process (`again`), the `names` of the others, and what `sideBySide` measured.
 */
export async function measure(bench, { sides, warmUpRounds = bench.warmUpRounds }) {
  const [first, ...rest] = sides
  const ours = await first()
  const again = await first(`${ours.name}, again`)
  const others = []
  for (const start of rest) others.push(await start())
  const measured = await sideBySide([ours, again, ...others], { rounds: bench.rounds, warmUpRounds })
  return {
    ours: measured[ours.name],
    again: measured[again.name],
    names: others.map(({ name }) => name),
    measured,
  }
}

/**
 * Measures the first side beside each of the others, and returns a row of the table for each of them.
 * @param sides functions that start a side, as for `measure`.
 * @param targets the ratio to hold for each of the other sides, by name.
 * @param parts the names of the sides that do a part of the same work, which no figure may be faster than.
 * @param by what the sides are judged by: `processor` time, or the `rate` where others work beside the server's process, such as a
 * database.
 */
export async function compare(bench, { what, targets = {}, parts = [], note, by, ...measuring }) {
  const { ours, again, names, measured } = await measure(bench, measuring)
  return names.map((name) =>
    comparison(what, name, {
      ours,
      again,
      theirs: measured[name],
      target: targets[name],
      isPart: parts.includes(name),
      note,
      by,
    }),
  )
}

/** A row of the table: the rounds of ours beside theirs, and the rounds of one program that was measured twice, `same`. */
export function comparison(
  what,
  against,
  { ours, again, theirs, same = [ours, again], target, isPart = false, note, by = 'processor' },
) {
  const { quartiles, ...ratio } = ratios(ours, theirs, by)
  return {
    what,
    against,
    ours: medians(ours),
    theirs: medians(theirs),
    ratio,
    by,
    quartiles,
    sameTwice: ratios(...same)[by],
    isPart,
    ...(target !== undefined && { target, reached: ratio[by] >= target }),
    ...(note && { note }),
  }
}

/** A row of the table with a single figure. `most` or `least` is its bound; `quartiles` and `sameTwice` as for a comparison. */
export function figure(what, value, unit, { most, least, note, against, quartiles, sameTwice } = {}) {
  const reached = most !== undefined ? value <= most : least !== undefined ? value >= least : undefined
  return {
    what,
    value,
    unit,
    ...(against && { against }),
    ...(most !== undefined && { target: `at most ${most} ${unit}`.trim() }),
    ...(least !== undefined && { target: `at least ${least} ${unit}`.trim() }),
    ...(reached !== undefined && { reached }),
    ...(quartiles && { quartiles }),
    ...(sameTwice !== undefined && { sameTwice }),
    ...(note && { note }),
  }
}
