import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const BENCH = fileURLToPath(new URL('..', import.meta.url))

/** Whether the packages of `bench/package.json` are installed. */
export function hasPeers() {
  return existsSync(`${BENCH}/node_modules/better-auth`)
}

/** Installs the packages of `bench/package.json` as its lock file pins them. */
export function installPeers() {
  console.log('Installing what the benchmarks compare with (npm ci in bench/)')
  execFileSync('npm', ['ci'], { cwd: BENCH, stdio: 'inherit' })
}
