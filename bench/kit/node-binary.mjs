import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The Node binary that `which` names: a path, or a major. A major is this process's own, or one that is installed in
 * `bench/node_modules`.
 * @throws {Error} with the command that installs it.
 */
export function findNode(which) {
  const path = /^\d+$/.test(which) ? binaryOf(Number(which)) : which
  const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1)
  return { path, version, major: Number(version.split('.')[0]) }
}

function binaryOf(major) {
  if (Number(process.versions.node.split('.')[0]) === major) return process.execPath
  const path = fileURLToPath(new URL(`../node_modules/node${major}/bin/node`, import.meta.url))
  if (existsSync(path)) return path
  const name = `node-${process.platform}-${process.arch}`
  throw new Error(
    `Node ${major} is not installed for the benchmarks. Run: npm install --prefix bench --no-save node${major}@npm:${name}@${major}`,
  )
}
