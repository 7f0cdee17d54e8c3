import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder for what is made once for all test files of a run. */
    runFolder: string
  }
}

/** Makes the folder, which is removed when the run ends. */
export default function provideRunFolder(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-run-'))
  // Other users read what is theirs in it: PostgreSQL does not run as root.
  chmodSync(folder, 0o755)
  project.provide('runFolder', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
