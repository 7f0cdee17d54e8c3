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

export type AssetName = 'mfa.css' | 'mfa.js' | 'mfa-keys.js'

/**
 * The style sheet and the scripts of the pages, served at `{base}/assets/`. They are read once. Only pages for security keys and
 * passkeys load `mfa-keys.js`, which the build writes.
 */
export const assets: Readonly<Record<AssetName, Asset>> = {
  'mfa.css': asset('assets/mfa.css', 'text/css; charset=utf-8'),
  'mfa.js': asset('assets/mfa.js', 'text/javascript; charset=utf-8'),
  'mfa-keys.js': asset('dist/pages/mfa-keys.js', 'text/javascript; charset=utf-8'),
}

function asset(path: string, type: string): Asset {
  // src/pages and dist/cjs lie equally deep below the package.
  const body = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  return { type, body, version: createHash('sha256').update(body).digest('base64url').slice(0, 10) }
}
