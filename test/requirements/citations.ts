import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A promise of `docs/security/requirements.md`. */
export interface Requirement {
  readonly id: string
  /** Not built yet, so it has no test. */
  readonly isPlanned: boolean
  /** Where it comes from, as the last column says. */
  readonly source: string
}

/** The requirements that one file cites. */
export interface Citations {
  /** Relative to the repository. */
  readonly path: string
  readonly isTest: boolean
  /** Every id in the file, comments included. */
  readonly all: readonly string[]
  /** The ids outside of comments, once for each line. In a test these are titles, or rows that titles are made of. */
  readonly inCode: readonly string[]
}

// `| R22 | At most 5 guesses … | ASVS 6.6.3 |`
const ROW = /^\| (R\d{2,3}) \| (\*Planned\.\* )?\S.* \| (\S.*) \|$/gm

/** The requirements that a document defines, in its order. */
export function requirementsIn(document: string): Requirement[] {
  return [...document.matchAll(ROW)].map(([, id = '', planned, source = '']) => ({
    id,
    isPlanned: planned !== undefined,
    source,
  }))
}

/** The citations of a file. */
export function citationsIn(path: string, text: string): Citations {
  // A block comment begins its line: inside one, `/*` may belong to a media type.
  const code = text.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/(^|\s)(?:\/\/|--\s).*$/gm, '$1')
  const inCode = path.endsWith('.md') ? [] : code.split('\n').flatMap((line) => [...new Set(idsIn(line))])
  return { path, isTest: /(?:^|\/)test\//.test(path), all: idsIn(text), inCode }
}

const idsIn = (text: string): string[] => text.match(/\bR\d{2,3}\b/g) ?? []

const SCANNED = [
  'src',
  'test',
  'docs',
  'bench',
  'service',
  'example-app',
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
]
// This folder has ids as examples, and the documents are what is compared with.
const SKIPPED = /(?:^|\/)(?:node_modules|dist)$|^test\/requirements$|^docs\/security$/

/** The citations in the files of the repository, sorted by path; a file that cites nothing is left out. */
export function citations(): Citations[] {
  return SCANNED.flatMap(filesBelow)
    .filter((path) => /\.(?:ts|mjs|js|sql|md)$/.test(path))
    .map((path) => citationsIn(path, readFileSync(join(ROOT, path), 'utf8')))
    .filter(({ all }) => all.length > 0)
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

function filesBelow(path: string): string[] {
  const full = join(ROOT, path)
  if (SKIPPED.test(path) || !existsSync(full)) return []
  if (!statSync(full).isDirectory()) return [path]
  return readdirSync(full).flatMap((name) => filesBelow(`${path}/${name}`))
}
