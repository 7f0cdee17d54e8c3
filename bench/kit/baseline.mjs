import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './service.mjs'

/**
 * Installs and builds another commit in a folder of its own.
 * @returns its `root`, and `remove` for the folder.
 */
export function buildBaseline(ref) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-baseline-'))
  const root = join(folder, 'tree')
  const run = (cwd, command, ...args) =>
    execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  run(ROOT, 'git', 'worktree', 'add', '--quiet', '--detach', root, ref)
  run(root, 'npm', 'ci', '--prefer-offline', '--ignore-scripts')
  run(root, 'npm', 'run', '-s', 'build')
  return {
    root,
    remove() {
      run(ROOT, 'git', 'worktree', 'remove', '--force', root)
      rmSync(folder, { recursive: true })
    },
  }
}
