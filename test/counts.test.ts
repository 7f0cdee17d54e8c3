import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { everyCase } from './kit/every-case.js'
import { temporaryFolder } from './kit/temporary-folder.js'

const SCRIPT = fileURLToPath(new URL('../scripts/test-counts.mjs', import.meta.url))
const CI = readFileSync(new URL('../.ci/run', import.meta.url), 'utf8')

/** Runs the script after a run of `npm test` in which so many tests passed; 1,000 did before. */
function compare(passed: number | undefined, ...args: string[]) {
  const { path: folder, remove } = temporaryFolder()
  onTestFinished(remove)
  for (const name of ['test', 'test-output']) mkdirSync(join(folder, name))
  const counts = join(folder, 'test/counts.json')
  writeFileSync(counts, '{ "test": 1000 }')
  const results = { numPassedTests: passed, numFailedTests: 0, numPendingTests: 4 }
  if (passed !== undefined) writeFileSync(join(folder, 'test-output/test.json'), JSON.stringify(results))
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, stdout, stderr, recorded: JSON.parse(readFileSync(counts, 'utf8')) }
}

describe('the number of tests', () => {
  it('may fall by a tenth', () =>
    everyCase([900, 4000], async (passed) => {
      expect(compare(passed)).toMatchObject({ status: 0, stderr: '', recorded: { test: 1000 } })
    }))

  it('fails the run when it falls further, or when no test ran', () =>
    everyCase([899, 0, undefined], async (passed) => {
      const { status, stderr } = compare(passed)
      expect(status).toBe(1)
      expect(stderr).toContain(`test: ${passed ?? 0} tests passed, and 1000 did before.`)
      expect(stderr).toContain('node scripts/test-counts.mjs --write')
    }))

  it('is recorded when that is asked for', () => {
    expect(compare(500, '--write')).toMatchObject({ status: 0, recorded: { test: 500 } })
  })

  it('is compared at the end of what decides about a commit, for every run whose results are kept', () => {
    expect(CI.trim().split('\n').at(-1)).toBe('node scripts/test-counts.mjs')
    const recorded = JSON.parse(readFileSync(new URL('counts.json', import.meta.url), 'utf8'))
    expect(Object.keys(recorded)).toEqual(['test', 'test-others'])
    for (const command of ['npm cit', 'npm run -s built:others']) expect(CI).toContain(`\n${command}\n`)
  })
})
