import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { probes } from './test/canaries/probes.js'
import { defects } from './test/defects/plugin.js'
import { PATIENCE_MS } from './test/kit/patience.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const tests = ['test/**/*.test.ts', 'service/test/**/*.test.ts', 'example-app/test/**/*.test.ts']

/** The tests that say by their name, such as `backup.operation.test.ts`, that they belong to this set. */
const named = (set: string) => tests.map((path) => path.replace('.test.ts', `.${set}.test.ts`))

/** Replace a module, which stays replaced for whatever shares their process. */
const APART = named('apart')

/** Test the packed package with the tools of other projects and in the recipes, which takes as long as a third of all other tests. */
const PACKAGE = ['test/package/**/*.test.ts', 'test/recipes/**/*.test.ts']

/**
 * Start processes and whole databases, end them and restore them, as an operator does; decode recordings; or go through dozens of
 * pages.
 */
const OPERATION = named('operation')

/**
 * Send requests at once to databases of every isolation level, to the servers of stores and to several processes, and while the
 * database is away.
 */
const AT_ONCE = named('at-once')

/** Look for secrets where others could read them, with probes in the sources. */
const PROBED = ['test/canaries/*.test.ts']

/** Switch on one defect after the other, all of which the sources have, and see a check find it. */
const DEFECTS = ['test/defects/*.test.ts']

/** Look at every page in two browsers, which takes minutes, in files so small that Vitest would start them last. */
const EVERY_PAGE = named('every-page')

/** Plugins change the sources, by more than their own text. */
const CHANGED_SOURCES = { fsModuleCache: false }

/** What `npm test` runs. */
export const NPM_TEST = [
  {
    extends: true as const,
    // Loading what all of them need takes longer than most of them.
    test: {
      name: 'together',
      isolate: false,
      include: tests,
      exclude: [
        ...configDefaults.exclude,
        ...APART,
        ...PACKAGE,
        ...OPERATION,
        ...AT_ONCE,
        ...PROBED,
        ...DEFECTS,
        ...EVERY_PAGE,
      ],
    },
  },
  { extends: true as const, test: { name: 'apart', include: APART } },
]

/** The script that runs, which gives its results their name: `built:others` writes `test-others.json`. */
const SCRIPT = (process.env.npm_lifecycle_event ?? 'test').replace('built:', 'test:')

/** How results are shown. On every machine, a table at the end says what could not be tested. */
export function reportersOf({ CI }: NodeJS.ProcessEnv) {
  const file = ['json', { outputFile: `test-output/${SCRIPT.replace(':', '-')}.json` }] satisfies [
    string,
    object,
  ]
  return ['default', './test/kit/missing-packages-reporter.ts', ...(CI ? [file] : [])]
}

export default defineConfig({
  resolve: {
    // Tests read the sources, so that one class or schema never exists twice (once built, once not).
    alias: [
      { find: /^\.\/embedded-database\.js$/, replacement: here('./test/kit/reused-databases.ts?of=service') },
      {
        find: /^\.\/store\/embedded-database\.js$/,
        replacement: here('./test/kit/reused-databases.ts?of=example-app'),
      },
      { find: /^\.\/password-cost\.js$/, replacement: here('./test/kit/password-cost.ts') },
      { find: /^countersign\/protocol$/, replacement: here('./src/protocol/index.ts') },
      { find: /^countersign\/speech$/, replacement: here('./src/speech/index.ts') },
      { find: /^countersign\/testing$/, replacement: here('./src/testing/index.ts') },
      { find: /^countersign$/, replacement: here('./src/index.ts') },
      { find: /^@countersign\/service$/, replacement: here('./service/src/index.ts') },
    ],
  },
  test: {
    // A test may wait for several things, one after the other.
    testTimeout: 3 * PATIENCE_MS,
    hookTimeout: 3 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
    // Of two cores, some wait for processes, timers and databases.
    maxWorkers: 4,
    globalSetup: ['test/kit/run-folder.ts'],
    // What a file changes outside of itself it puts back.
    setupFiles: ['test/kit/put-back.ts'],
    // Transformed modules, by content: of the three runs of `.ci/run`, the later ones transform nothing that the first one has.
    experimental: { fsModuleCache: true },
    projects: [
      ...NPM_TEST,
      // Has a script of its own too. A busy machine can starve a browser or an engine, so a failed test gets a second try, which
      // the output names.
      { extends: true, test: { name: 'operation', isolate: false, include: OPERATION, retry: 1 } },
      // Runs in the same script. Vitest orders projects by name, so these files start before those of `operation`. A busy machine needs
      // four minutes for what one test looks at.
      {
        extends: true,
        test: {
          name: 'every-page',
          isolate: false,
          include: EVERY_PAGE,
          retry: 1,
          testTimeout: 10 * PATIENCE_MS,
        },
      },
      // Runs in the same script, without a second try: a race must not pass by luck.
      { extends: true, test: { name: 'at-once', isolate: false, include: AT_ONCE } },
      {
        extends: true,
        plugins: [probes()],
        test: {
          name: 'probed',
          isolate: false,
          include: PROBED,
          setupFiles: ['test/canaries/watch.ts'],
          experimental: CHANGED_SOURCES,
        },
      },
      // `npm run test:long`, which `.ci/run` has no time for.
      {
        extends: true,
        plugins: [probes(), defects()],
        test: {
          name: 'defects',
          isolate: false,
          include: DEFECTS,
          setupFiles: ['test/canaries/watch.ts'],
          experimental: CHANGED_SOURCES,
        },
      },
      // Has a script of its own, so that `npm test` stays quick. Hooks pack the package, compile apps and start processes.
      { extends: true, test: { name: 'package', isolate: false, include: PACKAGE } },
    ],
    reporters: reportersOf(process.env),
  },
})
