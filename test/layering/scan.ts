import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** One import of a source file. */
export interface Import {
  /** Relative to the repository. */
  readonly from: string
  /** A file relative to the repository, or the name of a package. */
  readonly to: string
  readonly isPackage: boolean
  /** Whether the import disappears when compiled. */
  readonly isType: boolean
}

export interface Source {
  /** Relative to the repository. */
  readonly path: string
  /** Without comments. */
  readonly code: string
  readonly imports: readonly Import[]
}

/** Every TypeScript file below a folder of the repository. */
export function sourcesIn(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readSource(join(folder, name)))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Reads a file of the repository, or text that stands for one. */
export function readSource(path: string, text = readFileSync(join(ROOT, path), 'utf8')): Source {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[\s;{}()])\/\/.*$/gm, '$1')
  return { path, code, imports: [...statements(path, code), ...inlineImports(path, code)] }
}

// `import x from 'y'`, `import type { x } from 'y'`, `export { x } from 'y'`, `import 'y'`
const STATEMENT = /^[ \t]*(?:import|export)\s+(?:(type)\s+)?(?:[\w*{][^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm

function statements(path: string, code: string): Import[] {
  return [...code.matchAll(STATEMENT)].map(([, type, to = '']) => resolve(path, to, type !== undefined))
}

// `import('x').Name` is a type, `await import('x')` is not.
function inlineImports(path: string, code: string): Import[] {
  return [...code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)(\.)?/g)].map(([, to = '', dot]) =>
    resolve(path, to, dot !== undefined),
  )
}

function resolve(from: string, to: string, isType: boolean): Import {
  if (!to.startsWith('.')) return { from, to, isPackage: true, isType }
  const file = relative(ROOT, join(ROOT, dirname(from), to)).replace(/\.js$/, '.ts')
  return { from, to: file, isPackage: false, isType }
}

/** Every import cycle, type imports included. */
export function cyclesIn(sources: readonly Source[]): string[] {
  const next = new Map(sources.map(({ path, imports }) => [path, imports.map(({ to }) => to)]))
  const done = new Set<string>()
  const cycles: string[] = []
  const walk = (path: string, trail: readonly string[]) => {
    const at = trail.indexOf(path)
    if (at >= 0) cycles.push([...trail.slice(at), path].join(' → '))
    if (at >= 0 || done.has(path)) return
    for (const to of next.get(path) ?? []) walk(to, [...trail, path])
    done.add(path)
  }
  for (const path of next.keys()) walk(path, [])
  return cycles
}

/**
 * On how many floors the modules stand, each above all that it imports. `moduleOf` names the module of a file; modules must not
 * import each other in a circle.
 */
export function floorsOf(sources: readonly Source[], moduleOf: (path: string) => string): number {
  const below = new Map<string, Set<string>>()
  for (const { path, imports } of sources) {
    const own = moduleOf(path)
    const others = below.get(own) ?? new Set<string>()
    below.set(own, others)
    for (const { to, isPackage } of imports) if (!isPackage && moduleOf(to) !== own) others.add(moduleOf(to))
  }
  const floors = new Map<string, number>()
  const floorOf = (module: string): number => {
    const floor = floors.get(module) ?? 1 + Math.max(0, ...[...(below.get(module) ?? [])].map(floorOf))
    floors.set(module, floor)
    return floor
  }
  return Math.max(...[...below.keys()].map(floorOf))
}
