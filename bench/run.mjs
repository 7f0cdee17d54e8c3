import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CASES } from './cases.mjs'
import { createBench } from './kit/bench.mjs'
import { describeMachine, loadAverage } from './kit/machine.mjs'
import { findNode } from './kit/node-binary.mjs'
import { hasPeers, installPeers } from './kit/peers.mjs'
import { writePage } from './report/performance-page.mjs'
import { readResults, saveResult } from './report/results.mjs'
import { printRows } from './report/table.mjs'

const HELP = `npm run bench -- [case …] [options]

Without a case, all but soak are run on Node 20 and 24, and bench/performance.md is written.

  --quick             a few short rounds
  --rounds N          rounds that count, instead of 40 (5 with --quick)
  --node WHICH        the Node of the servers: a major, or the path of a binary; may be given more than once
  --sign-ins N        how many sign-ins the soak test does, instead of 1,000,000 (2,000 with --quick)
  --people N          among how many accounts service-plans and service-scale look, instead of 200,000 and 1,000,000
  --data FOLDER       keeps the PostgreSQL with these accounts there, so that the next run need not load them again
  --baseline REF      a commit whose service is measured beside this one
  --page              writes the page from the results that are kept, without measuring
  --output FILE       where the page goes, instead of bench/performance.md

Cases:`

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    node: { type: 'string', multiple: true },
    'sign-ins': { type: 'string' },
    people: { type: 'string' },
    data: { type: 'string' },
    baseline: { type: 'string' },
    page: { type: 'boolean' },
    output: { type: 'string' },
  },
})

const unknown = positionals.filter((name) => !(name in CASES))
if (options.help || unknown.length > 0) {
  console.log(`${HELP}\n  ${Object.keys(CASES).join(' ')}`)
  if (unknown.length > 0) {
    console.error(`\nThere is no case ${unknown.join(', ')}.`)
    process.exitCode = 1
  }
} else if (options.page) {
  writePage(readResults(), options.output)
} else {
  await measure()
}

async function measure() {
  const isEverything = positionals.length === 0
  const names = isEverything ? Object.keys(CASES).filter((name) => !CASES[name].long) : positionals
  if (!existsSync(new URL('../dist/', import.meta.url))) {
    throw new Error('There is no build in dist/. Run `npm run build` first.')
  }
  const nodes = (options.node ?? (isEverything ? ['20', '24'] : [process.execPath])).map(findNode)
  if (names.some((name) => CASES[name].peers) && !hasPeers()) installPeers()

  for (const [nth, { path, version, major }] of nodes.entries()) {
    for (const name of names) {
      if (isEverything && nth > 0 && CASES[name].once) continue
      const began = performance.now()
      const { title, meaning, run } = await import(`./cases/${name}.mjs`)
      console.log(`\n${title}, Node ${version}`)
      const bench = createBench({
        node: path,
        major,
        isQuick: options.quick,
        rounds: options.rounds === undefined ? undefined : Number(options.rounds),
        signIns: options['sign-ins'] === undefined ? undefined : Number(options['sign-ins']),
        people: options.people === undefined ? undefined : Number(options.people),
        data: options.data,
        baseline: options.baseline,
      })
      // A run that is stopped also stops the servers and databases that it started.
      const stop = () => bench.close().finally(() => process.exit(1))
      process.once('SIGINT', stop).once('SIGTERM', stop)
      const loadBefore = loadAverage()
      try {
        const rows = await run(bench)
        printRows(rows)
        console.log(`  (${Math.round((performance.now() - began) / 1000)} s)`)
        saveResult({
          name,
          title,
          meaning,
          major,
          nodeVersion: version,
          isQuick: options.quick,
          rounds: bench.rounds,
          machine: describeMachine(),
          loadAverage: [loadBefore, loadAverage()],
          rows,
        })
      } catch (error) {
        console.error(bench.errors())
        throw error
      } finally {
        process.off('SIGINT', stop).off('SIGTERM', stop)
        await bench.close()
      }
    }
  }
  if (isEverything && (!options.quick || options.output)) writePage(readResults(), options.output)
}
