import { readFileSync } from 'node:fs'

/** The release of this package. */
export function ownVersion(): string {
  // `src` and `dist` are at the same depth in the package, so one path fits both.
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
