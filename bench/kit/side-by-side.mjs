import { load } from './load.mjs'
import { median, quartiles } from './statistics.mjs'

/**
 * Measures sides in turn, round by round, so that a change of the machine's pace hits all of them: many short rounds tell
 * more than few long ones. Each side has a
 * `name`, an `app` (of `startApp`), `requests(round)` that prepares the requests of a round without being measured, and
 * optionally a `check` of each response, and whether the load `staysAwake`. The first `warmUpRounds` do not count.
 * @returns for each name, its rounds: `{ perSecond, p50Ms, p99Ms, processorUs, … }[]`, with all that the app's meter reads.
 */
export async function sideBySide(sides, { rounds, warmUpRounds }) {
  const measured = Object.fromEntries(sides.map(({ name }) => [name, []]))
  for (let round = -warmUpRounds; round < rounds; round++) {
    // Each other round the other way about, so that no side always comes after the same one.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const { name, app, check, staysAwake } = side
      const requests = await side.requests(round)
      const {
        responses: _checked,
        latencies: _summed,
        ...figures
      } = await load({
        port: app.port,
        requests,
        check,
        meter: app.meter,
        staysAwake,
      })
      if (round >= 0) measured[name].push(figures)
    }
  }
  return measured
}

/** The medians of a side's rounds. */
export function medians(rounds) {
  const names = Object.keys(rounds[0])
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]))]))
}

/**
 * How one side does beside another, as medians of the ratios of each round: `rate` by requests per second and
 * `processor` by processor time per request. Both are above 1 where `ours` is the faster one. `quartiles` are those of `by`, one of
 * the two.
 */
export function ratios(ours, theirs, by = 'processor') {
  const each = {
    rate: ours.map(({ perSecond }, i) => perSecond / theirs[i].perSecond),
    processor: ours.map(({ processorUs }, i) => theirs[i].processorUs / processorUs),
  }
  return { rate: median(each.rate), processor: median(each.processor), quartiles: quartiles(each[by]) }
}
