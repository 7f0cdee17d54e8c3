import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder {
  readonly path: string
  readonly remove: () => void
}

/** Makes a folder of a test; `remove` deletes it with its content. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'countersign-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
