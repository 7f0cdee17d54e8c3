import { build } from 'rolldown'
import { COMMON, externalPackages, latin1, licenses } from './rolldown.mjs'

/*
 * Builds the JavaScript of the service. It starts in four fifths of the time that it takes with a file for each module. `tsc` writes the
 * declarations beside it afterwards.
 */

// zod's translations took as long to load as all of our modules. It stays a dependency, since our declarations import its types.
// What makes the OpenAPI document has to use the same copy of zod.
const BUNDLED = ['zod', 'zod-openapi']

const COMMON_TO_BOTH = { ...COMMON, external: externalPackages('service', BUNDLED) }

const OUTPUT = {
  dir: 'service/dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  generatedCode: { symbols: false },
  // An error is named after its class.
  keepNames: true,
  comments: false,
}

await build({
  ...COMMON_TO_BOTH,
  input: {
    index: 'service/src/index.ts',
    main: 'service/src/main.ts',
    'cli/main': 'service/src/cli/main.ts',
    'make-empty-database': 'service/src/store/make-empty-database.ts',
  },
  plugins: [latin1(), licenses(BUNDLED)],
  output: { ...OUTPUT, cleanDir: true },
})

// What tests and benchmarks use beyond the exports. It is not published.
await build({
  ...COMMON_TO_BOTH,
  input: { parts: 'service/test/parts.ts' },
  output: { ...OUTPUT, codeSplitting: false },
})
