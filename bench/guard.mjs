import { readFileSync, writeFileSync } from 'node:fs'
import { challengeSides } from './cases/challenge.mjs'
import { pageSides } from './cases/page.mjs'
import { verifySides } from './cases/verify.mjs'
import { createBench } from './kit/bench.mjs'
import { ratios, sideBySide } from './kit/side-by-side.mjs'

// Fails when a page, a verification or a challenge costs more than 15 % more processor time than guard.json says, in
// multiples of the same work by hand, measured in the same run. `--update` writes down what is measured now.
const RECORDED = new URL('./guard.json', import.meta.url)
const TOLERANCE = 1.15
const TRIES = 3
const ROUNDS = 11
const WARM_UP_ROUNDS = 8
const ROUNDS_TO_RECORD = 41
const MEASURES = { page: pageSides, verify: verifySides, challenge: challengeSides }

const major = Number(process.versions.node.split('.')[0])
const isUpdate = process.argv.includes('--update')
const recorded = JSON.parse(readFileSync(RECORDED, 'utf8'))
const costs = {}
const regressions = []

for (const [name, sidesOf] of Object.entries(MEASURES)) {
  const bench = createBench({ node: process.execPath, major })
  try {
    const sides = await sidesOf(bench)
    const most = isUpdate ? Number.POSITIVE_INFINITY : recordedFor(name) * TOLERANCE
    const tries = []
    do tries.push(await costOf(sides, tries.length === 0 ? WARM_UP_ROUNDS : 1))
    while (tries.at(-1) > most && tries.length < TRIES)
    costs[name] = Number(tries.at(-1).toFixed(2))
    const measured = tries.map((cost) => cost.toFixed(2)).join(', then ')
    console.log(
      `${name}: ${measured} times the processor time of the same by hand${isUpdate ? '' : `; at most ${most.toFixed(2)}`}`,
    )
    if (tries.at(-1) > most) regressions.push(name)
  } finally {
    await bench.close()
  }
}

if (isUpdate) {
  const sorted = Object.entries({ ...recorded, [major]: costs }).sort(([a], [b]) => a - b)
  writeFileSync(RECORDED, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
} else if (regressions.length > 0) {
  console.error(
    `More than 15 % slower than bench/guard.json says: ${regressions.join(', ')}. Profile it with \`node --cpu-prof\`, or, if the cost is meant, write it down with \`node bench/guard.mjs --update\` on Node 20 and 24.`,
  )
  process.exitCode = 1
}

/** How many times the processor time of the second side the first one uses. */
async function costOf(sides, warmUpRounds) {
  const measured = await sideBySide(sides, { rounds: isUpdate ? ROUNDS_TO_RECORD : ROUNDS, warmUpRounds })
  const [ours, byHand] = sides.map(({ name }) => measured[name])
  return 1 / ratios(ours, byHand).processor
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
