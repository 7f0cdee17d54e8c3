import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'
import { DEFECTS, type Defect } from './defects.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Puts every defect into its source, switched off: `withDefect` switches one on. */
export function defects(): Plugin {
  const all = Object.entries<Defect>(DEFECTS)
  return {
    name: 'defects',
    enforce: 'pre',
    transform(code, id) {
      const ofFile = all.filter(([, { file }]) => id === `${ROOT}${file}`)
      return ofFile.length === 0 ? undefined : { code: withDefects(code, ofFile), map: null }
    },
  }
}

/** A source in which each of these expressions has a defect while the global says so. */
function withDefects(source: string, all: readonly [string, Defect][]): string {
  let code = source
  for (const [name, { file, right, wrong }] of all) {
    if (source.split(right).length !== 2) throw new Error(`${file} does not have "${right}" once: ${name}`)
    // The last one, since another defect of the same expression comes before it.
    const at = code.lastIndexOf(right)
    const either = `(globalThis.seededDefect === ${JSON.stringify(name)} ? (${wrong}) : (${right}))`
    code = code.slice(0, at) + either + code.slice(at + right.length)
  }
  return code
}
