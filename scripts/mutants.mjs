#!/usr/bin/env node
/*
 * Changes the files that decide who gets in, one condition, statement or argument at a time, and runs the tests that guard
 * each file (test/mutants/guarded.json). Prints every change that no test notices and that test/mutants/explained.json does
 * not explain, and what is explained there without need; either makes it fail.
 *
 * usage: node scripts/mutants.mjs [--again] [--test <test file>]… [file…]
 *   --again  only what the last run did not see noticed, in files that have not changed since
 *   --test   only these tests, such as those that were just written for what is left, and all of them for each change
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const OUT = 'test-output/mutants'
const AT_ONCE = 2
/** A change that keeps a process from going on for so long counts as noticed. */
const PATIENCE_MS = 240_000
/** The tests of one mutant take no longer than this together, unless they are named. */
const BUDGET_MS = 4_000
/** So many processes in a row that find nothing end the run. */
const IDLE = 3

const { values: options, positionals } = parseArgs({
  options: { again: { type: 'boolean', default: false }, test: { type: 'string', multiple: true } },
  allowPositionals: true,
})
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))
const readLines = (path) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [])
/** The tests that guard a file: a group of files was one file once, or has the same task. */
const guarded = Object.fromEntries(
  readJson('test/mutants/guarded.json').flatMap(({ files, tests }) => files.map((file) => [file, tests])),
)
const explained = readJson('test/mutants/explained.json')

const testsOf = (file) => options.test ?? guarded[file]
const folderOf = (file) => join(OUT, file.replaceAll('/', '-'))
const resultsOf = (file) => readLines(join(folderOf(file), 'results.jsonl')).map((line) => JSON.parse(line))

/** Removes what the last run found, except for what it saw noticed if that counts. */
function prepare(file) {
  const folder = folderOf(file)
  const source = join(folder, 'source.ts')
  const isSame = existsSync(source) && readFileSync(source, 'utf8') === readFileSync(file, 'utf8')
  const kept = options.again && isSame ? resultsOf(file).filter(({ outcome }) => outcome === 'killed') : []
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'results.jsonl'), kept.map((result) => `${JSON.stringify(result)}\n`).join(''))
}

/** Runs the tests with the mutants until the process ends. */
function runOnce(file) {
  const folder = folderOf(file)
  const results = join(folder, 'results.jsonl')
  const log = openSync(join(folder, 'log'), 'a')
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutants/vitest.config.ts'],
      {
        stdio: ['ignore', log, log],
        detached: true,
        env: {
          ...process.env,
          MUTANTS_OF: file,
          MUTANTS_REPORT: folder,
          MUTANTS_TESTS: testsOf(file).join(),
          MUTANTS_BUDGET_MS: String(options.test ? Number.POSITIVE_INFINITY : BUDGET_MS),
        },
      },
    )
    let seen = ''
    let since = Date.now()
    const timer = setInterval(() => {
      const lines = readLines(results)
      const last = lines.at(-1) ?? ''
      if (last !== seen) [seen, since] = [last, Date.now()]
      if (Date.now() - since < PATIENCE_MS || !existsSync(join(folder, 'coverage.json'))) return
      const { index, outcome } = JSON.parse(last)
      if (outcome === 'begun')
        appendFileSync(results, `${JSON.stringify({ index, outcome: 'killed', by: 'no end' })}\n`)
      process.kill(-child.pid, 'SIGKILL')
    }, 1_000)
    child.on('exit', () => {
      clearInterval(timer)
      resolve()
    })
  })
}

/** What became of each mutant of a file. */
async function outcomesOf(file) {
  prepare(file)
  const coverage = join(folderOf(file), 'coverage.json')
  for (let idle = 0; idle < IDLE; ) {
    const before = readLines(join(folderOf(file), 'results.jsonl')).length
    await runOnce(file)
    if (existsSync(coverage) && readJson(coverage).tests.length === 0) break
    const results = resultsOf(file)
    const mutants = existsSync(join(folderOf(file), 'mutants.json'))
      ? readJson(join(folderOf(file), 'mutants.json'))
      : []
    const outcomes = mutants.map((mutant, index) => {
      const last = results.findLast((result) => result.index === index)
      return { ...mutant, outcome: last?.outcome, by: last?.by, tests: last?.tests }
    })
    const isDone = mutants.length > 0 && outcomes.every(({ outcome }) => outcome && outcome !== 'begun')
    if (isDone) return outcomes
    idle = results.length === before ? idle + 1 : 0
  }
  throw new Error(`The tests of ${file} do not run: see ${join(folderOf(file), 'log')}.`)
}

/** Prints what became of the mutants of a file; returns how much of it is a fault. */
function print(file, outcomes) {
  const reasons = explained[file] ?? {}
  const survivors = outcomes.filter(({ outcome }) => outcome !== 'killed')
  const needless = Object.keys(reasons).filter(
    (name) => !survivors.some((survivor) => survivor.name === name),
  )
  const open = survivors.filter(({ name }) => !reasons[name])
  console.log(
    `${file}: ${outcomes.length - survivors.length} of ${outcomes.length} noticed, ${survivors.length - open.length} explained`,
  )
  for (const { line, name, outcome, by, tests } of open) {
    console.log(`  ${file}:${line} ${name}  (${outcome === 'survived' ? `${tests} tests pass` : by})`)
  }
  for (const name of needless) console.log(`  explained without need: ${name}`)
  return open.length + needless.length
}

const files = positionals.length > 0 ? positionals : Object.keys(guarded)
const unknown = files.filter((file) => !guarded[file])
if (unknown.length > 0) {
  console.error(`No tests are listed for ${unknown.join(', ')} in test/mutants/guarded.json.`)
  process.exit(2)
}
const waiting = [...files]
let faults = 0
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let file = waiting.shift(); file; file = waiting.shift())
      faults += print(file, await outcomesOf(file))
  }),
)
process.exitCode = faults > 0 ? 1 : 0
