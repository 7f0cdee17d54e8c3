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
  plugins: [latin1(), licenses(BUNDLED), commonjsTypes()],
  output: { ...OUTPUT, cleanDir: true },
})

// What tests and benchmarks use beyond the exports. It is not published.
await build({
  ...COMMON_TO_BOTH,
  input: { parts: 'service/test/parts.ts' },
  output: { ...OUTPUT, codeSplitting: false },
})

/**
 * Adds the declarations for CommonJS. Node loads the ES module there, and TypeScript lets a CommonJS file name the types of one, but not
 * import its values.
 */
function commonjsTypes() {
  return {
    name: 'commonjs-types',
    generateBundle(_options, bundle) {
      const asModule = "'./index.js' with { 'resolution-mode': 'import' }"
      const values = bundle['index.js'].exports.flatMap((name) => [
        `export declare const ${name}: typeof service.${name}`,
        // The type of what a class makes.
        ...(/^[A-Z]/.test(name) ? [`export type ${name} = service.${name}`] : []),
      ])
      const lines = [`import type * as service from ${asModule}`, `export type * from ${asModule}`, ...values]
      this.emitFile({ type: 'asset', fileName: 'index.d.cts', source: `${lines.join('\n')}\n` })
    },
  }
}
