import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Takes the folder for this process alone; gives back what lets go of it. PGlite itself does not refuse a second
 * process on its folder, and then loses rows.
 * @throws {FolderInUseError} when a living process holds it.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'lock')
  const mine = `${process.pid} ${randomUUID()}`
  if (!(await create(file, mine))) {
    const holder = Number.parseInt(await read(file), 10)
    if (isAlive(holder)) throw new FolderInUseError(folder, holder)
    await rm(file, { force: true })
    if (!(await create(file, mine))) throw new FolderInUseError(folder)
    // Another process may have found the same dead holder, and taken our new lock for the old one.
    await pause(100)
  }
  if ((await read(file)) !== mine) throw new FolderInUseError(folder)
  return async () => {
    if ((await read(file)) === mine) await rm(file, { force: true })
  }
}

async function create(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Another process works in the folder. */
export class FolderInUseError extends Error {
  constructor(folder: string, pid?: number) {
    const who = pid ? `process ${pid}` : 'another process'
    super(`${folder} is in use by ${who}. Stop it, or choose another DATA_DIR, or set DATABASE_URL.`)
    this.name = 'FolderInUseError'
  }
}
