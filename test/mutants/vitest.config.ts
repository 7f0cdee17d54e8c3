import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.js'
import { mutantsOf, withMutants } from './mutants.js'

/*
 * Runs the tests MUTANTS_TESTS with all mutants of one source, MUTANTS_OF, in it, none of which is active. `runner.ts` sees which tests
 * a mutant would make a difference to, and then runs those for each mutant in the same process, so that nothing is loaded twice.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { MUTANTS_OF: file = '', MUTANTS_TESTS: tests = '' } = process.env

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
    include: tests.split(','),
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
