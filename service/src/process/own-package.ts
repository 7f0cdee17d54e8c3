import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const MANIFEST = createRequire(import.meta.url).resolve('@countersign/service/package.json')

/** The folder of this package. It is found by the name of the package, because sources and build are not equally deep in it. */
export const PACKAGE_FOLDER = new URL('.', pathToFileURL(MANIFEST))

/** The release of this package. */
export function ownVersion(): string {
  return (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version
}
