#!/usr/bin/env node
/*
 * Compares how many tests passed in the last runs of `npm test` and of all other tests that `.ci/run` runs with
 * test/counts.json. Fails when one of them passed fewer than nine tenths of what is recorded there: tests that no longer run
 * look like tests that pass.
 *
 * usage: node scripts/test-counts.mjs [--write]
 *   --write  records the counts of the last runs
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const COUNTS = 'test/counts.json'
const LEAST = 0.9

const { values: options } = parseArgs({ options: { write: { type: 'boolean', default: false } } })
const recorded = JSON.parse(readFileSync(COUNTS, 'utf8'))

/** How many tests of a run passed; none when there was no run. */
function passedIn(run) {
  const path = `test-output/${run}.json`
  if (!existsSync(path)) {
    console.log(`${run}: no results in ${path}`)
    return 0
  }
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(path, 'utf8'))
  console.log(`${run}: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`)
  return numPassedTests
}

const passed = Object.fromEntries(Object.keys(recorded).map((run) => [run, passedIn(run)]))
const lacking = Object.keys(recorded).filter(
  (run) => passed[run] < recorded[run] * LEAST || passed[run] === 0,
)
if (options.write) {
  writeFileSync(COUNTS, `${JSON.stringify(passed, null, 2)}\n`)
} else if (lacking.length > 0) {
  for (const run of lacking)
    console.error(`${run}: ${passed[run]} tests passed, and ${recorded[run]} did before.`)
  console.error('Find the tests that do not run. If they were removed: node scripts/test-counts.mjs --write')
  process.exitCode = 1
}
