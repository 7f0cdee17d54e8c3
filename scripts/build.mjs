import { existsSync, readdirSync, rmSync } from 'node:fs'
import { build } from 'rolldown'
import { COMMON, externalPackages, latin1, licenses } from './rolldown.mjs'

/*
 * Builds the JavaScript of the package. The implementation exists once, as CommonJS in `dist/cjs`; the ES modules in
 * `dist/esm` export the same objects by name. `countersign/browser` runs in browsers, so its ES module is complete in itself.
 * `tsc` writes the declarations to `dist/types` afterwards.
 */

const ENTRIES = {
  index: 'src/index.ts',
  protocol: 'src/protocol/index.ts',
  speech: 'src/speech/index.ts',
  testing: 'src/testing/index.ts',
}

// zod's CommonJS entry loads 95 files, most of them translations, which took half of the time of our import. The parts that
// we use are in the bundle. It stays a dependency, since our declarations import its types.
const BUNDLED = ['zod', 'qr']

// What only the commands use.
const BUNDLED_FOR_COMMANDS = ['pngjs']

// What runs in browsers is bundled whole.
const BUNDLED_FOR_BROWSERS = ['@simplewebauthn/browser']

removeStaleOutput('example-app')

await build({
  ...COMMON,
  input: ENTRIES,
  external: externalPackages('.', BUNDLED),
  plugins: [
    latin1(),
    esmEntries(),
    commonjsTypes(),
    licenses([...BUNDLED, ...BUNDLED_FOR_COMMANDS, ...BUNDLED_FOR_BROWSERS]),
  ],
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'cjs',
    strict: true,
    // `src/pages` and `dist/cjs` are equally deep, so that a path to `assets` holds in both.
    entryFileNames: 'cjs/[name].cjs',
    // The implementation of an entry is named `implementation~index` by rolldown.
    chunkFileNames: ({ name }) => `cjs/${name.split('~').toReversed().join('-')}.cjs`,
    codeSplitting: {
      groups: [
        // One file for everything that two entries need, so that each class exists once.
        { name: 'shared', minShareCount: 2, priority: 1 },
        // Entries hold no code: when an ES module imports one, Node reads all of it once more to find its names.
        { name: 'implementation', entriesAware: true },
      ],
    },
    // Jest does not support `import()` in CommonJS.
    dynamicImportInCjs: false,
    generatedCode: { symbols: false },
    // An error is named after its class.
    keepNames: true,
    comments: false,
  },
})

// A bundle of its own, so that an app does not load what only the commands need.
await build({
  ...COMMON,
  input: { commands: 'src/cli/main.ts' },
  // A command may load all of zod, which the package depends on.
  external: externalPackages('.', []),
  plugins: [executable()],
  output: {
    dir: 'dist',
    format: 'cjs',
    strict: true,
    entryFileNames: 'bin/[name].cjs',
    chunkFileNames: 'bin/[name].cjs',
    dynamicImportInCjs: false,
    minify: true,
    comments: false,
  },
})

const forBrowsers = { ...COMMON, platform: 'browser', transform: { target: 'es2022' } }

for (const [format, extension] of Object.entries({ esm: 'mjs', cjs: 'cjs' })) {
  await build({
    ...forBrowsers,
    input: { browser: 'src/pages/browser/index.ts' },
    plugins: format === 'esm' ? [browserTypes()] : [],
    output: {
      dir: 'dist',
      format,
      strict: true,
      entryFileNames: `${format}/[name].${extension}`,
      generatedCode: { symbols: false },
      comments: false,
    },
  })
}

// The script of the pages for keys, which the router serves beside those in `assets`.
await build({
  ...forBrowsers,
  input: { 'mfa-keys': 'src/pages/browser/pages/key-forms.ts' },
  output: { dir: 'dist', format: 'esm', entryFileNames: 'pages/[name].js', minify: true, comments: false },
})

/** Removes what `tsc` once compiled from a source that is gone. A test that still loads it would pass here and fail in a fresh clone. */
function removeStaleOutput(workspace) {
  const folder = `${workspace}/dist`
  if (!existsSync(folder)) return
  for (const file of readdirSync(folder, { recursive: true })) {
    const compiled = /^(.+)\.(d\.ts|js)$/.exec(file)
    if (compiled && !existsSync(`${workspace}/src/${compiled[1]}.ts`)) rmSync(`${folder}/${file}`)
  }
}

/** Adds an ES module with its declarations for each entry. */
function esmEntries() {
  return {
    name: 'esm-entries',
    generateBundle(_options, bundle) {
      for (const { isEntry, name, fileName, exports } of Object.values(bundle)) {
        if (!isEntry) continue
        const names = exports.toSorted().map((exported) => `  ${exported},\n`)
        const types = ENTRIES[name].replace('src/', '../types/').replace('.ts', '.js')
        this.emitFile({
          type: 'asset',
          fileName: `esm/${name}.mjs`,
          source: `export {\n${names.join('')}} from '../${fileName}'\n`,
        })
        this.emitFile({ type: 'asset', fileName: `esm/${name}.d.mts`, source: `export * from '${types}'\n` })
      }
    },
  }
}

/** Adds the file that npm links as `countersign`. */
function executable() {
  const source = `#!/usr/bin/env node
const { text } = require('node:stream/consumers')
const { runCommand } = require('./commands.cjs')

runCommand(process.argv.slice(2), {
  env: process.env,
  stdin: () => text(process.stdin),
  out: console.log,
  err: console.error,
  isTerminal: process.stdout.isTTY === true,
}).then(
  (code) => {
    process.exitCode = code
  },
  (error) => {
    console.error(error)
    process.exitCode = 2
  },
)
`
  return {
    name: 'executable',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'bin/countersign.cjs', source })
    },
  }
}

/** Adds the declarations of `countersign/browser`. */
function browserTypes() {
  return {
    name: 'browser-types',
    generateBundle() {
      const source = "export * from '../types/pages/browser/index.js'\n"
      this.emitFile({ type: 'asset', fileName: 'esm/browser.d.mts', source })
    },
  }
}

/** Marks the declarations of `tsc` as CommonJS, as the implementation is. */
function commonjsTypes() {
  return {
    name: 'commonjs-types',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'types/package.json', source: '{ "type": "commonjs" }\n' })
    },
  }
}
