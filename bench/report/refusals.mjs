import { isNoisy, MOST_NOISE } from '../kit/noise.mjs'

/** How far a figure that the README quotes may be from the one of the guard. */
const MOST_CONTRADICTION = 0.1

/**
 * Why figures must not be published, one sentence each; none if they may be.
 * @param results of the cases, as `saveResult` keeps them.
 * @param quotes what the README would quote of them, see `quotesOf`.
 * @param guard the content of `guard.json`.
 */
export function refusals({ results, quotes, guard }) {
  return [
    ...results.flatMap(({ name, major, rows }) =>
      rows.flatMap((row) =>
        refusalsOf(row).map((reason) => `${place(row, major)} ${reason} ${again(name, major)}`),
      ),
    ),
    ...quotes.flatMap((quote) => contradiction(quote, guard)),
  ]
}

function refusalsOf({ ratio, ours, theirs, sameTwice, isPart, by, against }) {
  const reasons = []
  if (ratio && sameTwice === undefined) reasons.push('has no second measurement of the same program.')
  if (sameTwice !== undefined && isNoisy(sameTwice)) {
    reasons.push(
      `is noise: the same program measured twice has the ratio ${sameTwice.toFixed(2)}, more than ${MOST_NOISE * 100} % from 1.`,
    )
  }
  // Both, since the median of the ratios and the ratio of the medians differ, and the page shows both.
  const isFaster = isPart && (ratio[by] > 1 || ours[FIGURE[by]] * SIGN[by] > theirs[FIGURE[by]] * SIGN[by])
  if (isFaster) reasons.push(`is faster than ${against}, which is a part of the same work.`)
  return reasons
}

/** What a row is judged by, and whether more of it is better. */
const FIGURE = { processor: 'processorUs', rate: 'perSecond' }
const SIGN = { processor: -1, rate: 1 }

function contradiction({ what, name, major, ours, theirs }, guard) {
  const guarded = guard[major]?.[name]
  if (guarded === undefined) return []
  const quoted = ours / theirs
  if (Math.abs(quoted / guarded - 1) <= MOST_CONTRADICTION) return []
  return [
    `The README would quote ${quoted.toFixed(2)} times the work by hand for "${what}" on Node ${major}, and bench/guard.json says ${guarded.toFixed(2)}. Measure both again: npm run bench -- ${name} --node ${major}, and node bench/guard.mjs --update on Node ${major}.`,
  ]
}

const place = ({ what, against }, major) => `${what}${against ? `, beside ${against},` : ''} on Node ${major}`

const again = (name, major) => `Measure it again: npm run bench -- ${name} --node ${major}`
