import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RequestHandler } from 'express'

// `src/console` and `dist/console` are equally deep in the package.
const CSS = readFileSync(new URL('../../assets/console.css', import.meta.url), 'utf8')
const VERSION = createHash('sha256').update(CSS).digest('base64url').slice(0, 10)

/** The path of the style sheet, which changes with its content. */
export const STYLE_PATH = `/console/assets/console.css?v=${VERSION}`

/** Serves the style sheet. */
export const styleRoute: RequestHandler = function styleRoute(_request, response) {
  response.set('Cache-Control', 'public, max-age=31536000, immutable').type('css').send(CSS)
}
