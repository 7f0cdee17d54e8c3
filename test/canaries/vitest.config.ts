import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import base, { APART } from '../../vitest.config.js'
import { PATIENCE_MS } from '../kit/patience.js'
import { probes } from './probes.js'
import { SEARCHED } from './searched.js'

/* `npm run canaries`: the tests of `SEARCHED`, in which every secret is noted where it is made and looked for where it could show. */

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { ...base.resolve },
  plugins: [probes()],
  test: {
    include: [...SEARCHED],
    exclude: [...APART],
    globalSetup: ['test/kit/run-folder.ts'],
    setupFiles: ['test/canaries/watch.ts', 'test/kit/put-back.ts'],
    isolate: false,
    maxWorkers: 2,
    testTimeout: 3 * PATIENCE_MS,
    hookTimeout: 3 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
    reporters: ['default'],
  },
})
