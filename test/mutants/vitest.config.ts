import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.js'
import { mutantsOf, withMutants } from './mutants.js'

/*
 * Runs the tests that guard one source, MUTANTS_OF, with all its mutants in it, none of which is active. `runner.ts` sees which tests
 * run which mutant, and then runs those again for each mutant in the same process, so that nothing is loaded twice.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { MUTANTS_OF: file = '' } = process.env
const guarded: Record<string, string[]> = JSON.parse(readFileSync(`${ROOT}test/mutants/guarded.json`, 'utf8'))

export default defineConfig({
  root: ROOT,
  resolve: { ...base.resolve },
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(_code, id) {
        if (id !== `${ROOT}${file}`) return
        const source = readFileSync(id, 'utf8')
        return { code: withMutants(source, mutantsOf(source)), map: null }
      },
    },
  ],
  test: {
    include: [...(guarded[file] ?? [])],
    runner: fileURLToPath(new URL('runner.ts', import.meta.url)),
    globalSetup: ['test/kit/run-folder.ts'],
    setupFiles: ['test/kit/put-back.ts'],
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 5_000, interval: 20 } },
    reporters: ['dot'],
  },
})
