import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { browsersOf, CHALLENGE, HTML, LOGIN, newUserIds, sendFromAll, VERIFY } from '../kit/browsers.mjs'
import { figure } from '../kit/comparison.mjs'
import { median, quartiles } from '../kit/statistics.mjs'

export const title = 'Import and first requests of a new process'
export const meaning = `Medians of new processes: an import in processor time, beside the import of express in the same process. Memory is what the process has more of after the import. The first requests are those of a process
that has just started, one after the other on one connection. Express and its body parser load and compile code for them
without Countersign too, as the same requests by hand show.`

const IMPORT_COST = fileURLToPath(new URL('../apps/import-cost.mjs', import.meta.url))

const STEPS = [
  ['login', LOGIN],
  ['`GET /mfa`', () => ({ path: '/mfa', accept: HTML })],
  ['`POST /mfa/challenge`', CHALLENGE],
  ['`GET /mfa/verify`', () => ({ path: '/mfa/verify', accept: HTML })],
  ['`POST /mfa/verify`', VERIFY],
  ['verified page', () => ({ path: '/account', accept: HTML })],
]
const STEPS_BY_HAND = STEPS.filter(([what]) => !what.startsWith('`GET'))

export async function run(bench) {
  const rows = await importCost(bench)
  rows.push(...(await firstRequests(bench)))
  return rows
}

async function importCost({ node, rounds }) {
  const costs = []
  const again = []
  const measure = async () => JSON.parse((await promisify(execFile)(node, [IMPORT_COST])).stdout)
  for (let round = 0; round < rounds; round++) {
    costs.push(await measure())
    again.push(await measure())
  }
  const of = (name) => median(costs.map((cost) => cost[name]))
  const [least, most] = quartiles(costs.map(({ ms }) => ms)).map(Math.round)
  return [
    figure("`import 'countersign'` over express", Math.round(of('ms')), 'ms', {
      most: Math.round(of('expressMs')),
      quartiles: [least, most],
      sameTwice: median(costs.map(({ ms }, i) => again[i].ms / ms)),
      note: 'the target is what express itself takes',
    }),
    figure("`import 'countersign'` over express, memory", Number(of('megabytes').toFixed(1)), 'MB'),
    figure("`import 'express'`", Math.round(of('expressMs')), 'ms'),
  ]
}

/** Each step of ten sign-ins in a new process: how much longer the first took than the tenth, beside the same by hand. */
async function firstRequests(bench) {
  const ours = await timesOf(bench, 'countersign', STEPS)
  const byHand = await timesOf(bench, 'by-hand', STEPS_BY_HAND)
  return STEPS.map(([what]) => {
    const { firstMs, moreMs } = ours.get(what)
    const floor = byHand.get(what)
    const beside = floor ? `; by hand the first is slower by ${floor.moreMs} ms` : ''
    return figure(`first ${what} of a process, slower than the tenth by`, moreMs, 'ms', {
      note: `the first takes ${firstMs} ms${beside}`,
    })
  })
}

/** For each step: how long the first one in a new process takes, and how much longer that is than the tenth. */
async function timesOf(bench, name, steps) {
  const samples = new Map(steps.map(([what]) => [what, []]))
  for (let process = 0; process < (bench.isQuick ? 3 : 7); process++) {
    const app = await bench.start(name)
    const times = steps.map(() => [])
    for (const userId of newUserIds(10)) {
      const browsers = browsersOf(app, [userId])
      for (const [i, [, step]] of steps.entries()) {
        const began = performance.now()
        await sendFromAll(app, browsers, step)
        times[i].push(performance.now() - began)
      }
    }
    await app.stop()
    steps.forEach(([what], i) => {
      samples.get(what).push(times[i])
    })
  }
  return new Map(
    [...samples].map(([what, all]) => [
      what,
      {
        firstMs: Math.round(median(all.map(([first]) => first))),
        moreMs: Math.round(median(all.map((each) => each[0] - each[9]))),
      },
    ]),
  )
}
