import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A file that the pages link to. */
export interface Asset {
  /** Its `Content-Type`. */
  readonly type: string
  readonly body: string
  /** A hash of the content. A URL that contains it can be cached forever. */
  readonly version: string
}

export type AssetName = 'mfa.css' | 'mfa.js'

/** The style sheet and the script of the pages, served at `{base}/assets/`. They are read once. */
export const assets: Readonly<Record<AssetName, Asset>> = {
  'mfa.css': asset('mfa.css', 'text/css; charset=utf-8'),
  'mfa.js': asset('mfa.js', 'text/javascript; charset=utf-8'),
}

function asset(name: AssetName, type: string): Asset {
  // src/pages and dist/pages lie equally deep below the package.
  const body = readFileSync(new URL(`../../assets/${name}`, import.meta.url), 'utf8')
  return { type, body, version: createHash('sha256').update(body).digest('base64url').slice(0, 10) }
}
