import { readFileSync, writeFileSync } from 'node:fs'
import { challengeSides } from './cases/challenge.mjs'
import { pageSides } from './cases/page.mjs'
import { verifySides } from './cases/verify.mjs'
import { createBench } from './kit/bench.mjs'
import { isNoisy, MOST_NOISE } from './kit/noise.mjs'
import { ratios, sideBySide } from './kit/side-by-side.mjs'

// Fails when a page, a verification or a challenge costs more than 15 % more processor time than guard.json says, in
// multiples of the same work by hand, measured in the same run. `--update` writes down what is measured now.
const RECORDED = new URL('./guard.json', import.meta.url)
const TOLERANCE = 1.15
const TRIES = 3
const ROUNDS = 15
const ROUNDS_TO_RECORD = 40
const AGAIN = 'the same program again'
// Until they are warm, code is still being compiled, of which Countersign has more: a verification would seem to cost a quarter more, and
// so would a page, which runs less code in a round.
const MEASURES = {
  page: { sidesOf: pageSides, warmUpRounds: 90 },
  verify: { sidesOf: verifySides, warmUpRounds: 30 },
  challenge: { sidesOf: challengeSides, warmUpRounds: 30 },
}

const major = Number(process.versions.node.split('.')[0])
const isUpdate = process.argv.includes('--update')
const recorded = JSON.parse(readFileSync(RECORDED, 'utf8'))
const costs = {}
const failures = []

for (const [name, { sidesOf, warmUpRounds }] of Object.entries(MEASURES)) {
  const most = isUpdate ? Number.POSITIVE_INFINITY : recordedFor(name) * TOLERANCE
  const tries = []
  do tries.push(await costOf(sidesOf, warmUpRounds))
  while (isRejected(tries.at(-1), most) && tries.length < TRIES)
  const last = tries.at(-1)
  costs[name] = Number(last.cost.toFixed(2))
  const measured = tries
    .map(
      ({ cost, sameTwice }) =>
        cost.toFixed(2) + (isUpdate ? ` (the same program twice ${sameTwice.toFixed(2)})` : ''),
    )
    .join(', then ')
  console.log(
    `${name}: ${measured} times the processor time of the same by hand${isUpdate ? '' : `; at most ${most.toFixed(2)}`}`,
  )
  if (isRejected(last, most)) failures.push(name)
}

if (isUpdate && failures.length > 0) {
  console.error(
    `Nothing was written: the same program measured twice differs by more than ${MOST_NOISE * 100} % (${failures.join(', ')}). Run it again while the machine does nothing else.`,
  )
  process.exitCode = 1
} else if (isUpdate) {
  const sorted = Object.entries({ ...recorded, [major]: costs }).sort(([a], [b]) => a - b)
  writeFileSync(RECORDED, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
} else if (failures.length > 0) {
  console.error(
    `More than 15 % slower than bench/guard.json says: ${failures.join(', ')}. Profile it with \`node --cpu-prof\`, or, if the cost is meant, write it down with \`node bench/guard.mjs --update\` on Node 20 and 24.`,
  )
  process.exitCode = 1
}

/** Noise matters where a figure is written down; a regression must show in spite of it, in every try. */
function isRejected({ cost, sameTwice }, most) {
  return isUpdate ? isNoisy(sameTwice) : cost > most
}

/** How many times the processor time of the second side the first one uses, and, for an update, the ratio of the first one to itself. */
async function costOf(sidesOf, warmUpRounds) {
  const bench = createBench({
    node: process.execPath,
    major,
    rounds: isUpdate ? ROUNDS_TO_RECORD : ROUNDS,
  })
  try {
    const starts = sidesOf(bench)
    const sides = []
    for (const start of starts) sides.push(await start())
    if (isUpdate) sides.push(await starts[0](AGAIN))
    const measured = await sideBySide(sides, { rounds: bench.rounds, warmUpRounds })
    const [ours, byHand] = sides.map(({ name }) => measured[name])
    return {
      cost: 1 / ratios(ours, byHand).processor,
      ...(isUpdate && { sameTwice: ratios(ours, measured[AGAIN]).processor }),
    }
  } finally {
    await bench.close()
  }
}

/** What is written down for this major, or for the nearest one before it that is. */
function recordedFor(name) {
  const known = Object.keys(recorded)
    .map(Number)
    .filter((one) => one <= major)
  if (known.length === 0)
    throw new Error(`bench/guard.json has nothing for Node ${major} or an earlier major.`)
  return recorded[Math.max(...known)][name]
}
