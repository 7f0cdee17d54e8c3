import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Express } from 'express'

/** A script of the console, which is served from the console itself. */
export interface Script {
  /** Its address, which changes with its content. */
  readonly path: string
  readonly content: string
}

// `src/console` and `dist/console` are equally deep in the package.
const NUMBERS = new URL('../../assets/numbers.js', import.meta.url)
const COPY = new URL('../../assets/copy.js', import.meta.url)
// The whole library in one file for browsers, beside the file that Node loads.
const CHART = new URL('chart.umd.min.js', `file://${createRequire(import.meta.url).resolve('chart.js')}`)

function scriptFrom(name: string, file: URL): Script {
  const content = readFileSync(file, 'utf8')
  const version = createHash('sha256').update(content).digest('base64url').slice(0, 10)
  return { path: `/console/assets/${name}?v=${version}`, content }
}

/** Draws the charts of a page and keeps them up to date; the library comes first. */
export const CHART_SCRIPTS: readonly Script[] = [
  scriptFrom('chart.js', CHART),
  scriptFrom('numbers.js', NUMBERS),
]

/** Adds a button that copies what a page shows once. */
export const COPY_SCRIPTS: readonly Script[] = [scriptFrom('copy.js', COPY)]

/** Serves the scripts. */
export function serveScripts(app: Express): void {
  for (const { path, content } of [...CHART_SCRIPTS, ...COPY_SCRIPTS]) {
    app.get(path.replace(/\?.*$/, ''), (_request, response) => {
      response.set('Cache-Control', 'public, max-age=31536000, immutable').type('js').send(content)
    })
  }
}
