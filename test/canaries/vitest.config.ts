import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import base, { NPM_TEST } from '../../vitest.config.js'
import { PATIENCE_MS } from '../kit/patience.js'
import { probes } from './probes.js'

/*
 * `npm run canaries`: the tour, and the tests that `npm test` runs. Every secret is noted where it is made, and looked for where it could
 * show.
 */

const TOUR = { name: 'tour', isolate: false, include: ['test/canaries/*.test.ts'] }

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { ...base.resolve },
  test: {
    maxWorkers: 2,
    testTimeout: 3 * PATIENCE_MS,
    hookTimeout: 3 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
    globalSetup: ['test/kit/run-folder.ts'],
    setupFiles: ['test/canaries/watch.ts', 'test/kit/put-back.ts'],
    projects: [{ test: TOUR }, ...NPM_TEST].map(({ test }) => ({
      extends: true as const,
      plugins: [probes()],
      test,
    })),
    reporters: ['default'],
  },
})
