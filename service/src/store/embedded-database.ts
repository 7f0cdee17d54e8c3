import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { ConfigurationError } from '../process/configuration-error.js'
import { tryTo } from '../try-to.js'
import { emptyDatabase, loadPglite, type PgliteDatabase, unpackTar } from './empty-database.js'

/**
 * Opens PGlite, a PostgreSQL inside this process: on disk under `dataDir`, which is created if necessary, or in memory
 * for `memory://`. The folder stays locked until the database is closed, because two processes that write to one
 * PGlite folder lose rows without an error. Throws a `ConfigurationError` when the folder is locked or cannot be
 * opened, and when `@electric-sql/pglite` is not installed.
 */
export async function embeddedDatabase(dataDir: string): Promise<PgliteDatabase> {
  if (dataDir.startsWith('memory://')) {
    const empty = await emptyDatabase()
    return open(dataDir, empty && new Blob([new Uint8Array(empty)]))
  }
  const release = await lockFolder(dataDir)
  try {
    const database = await openOnDisk(dataDir)
    const close = database.close.bind(database)
    return Object.assign(database, {
      async close() {
        await close()
        await release()
      },
    })
  } catch (error) {
    await release()
    throw error
  }
}

/** Opens or creates the folder. A folder whose creation was interrupted contains no data and is created again. */
async function openOnDisk(dataDir: string): Promise<PgliteDatabase> {
  const folder = join(dataDir, 'database')
  const unfinished = join(dataDir, 'database-unfinished')
  if (existsSync(unfinished)) await rm(folder, { recursive: true, force: true })
  if (existsSync(folder)) return open(folder)
  await writeFile(unfinished, '')
  const empty = await emptyDatabase()
  // PGlite can unpack it too, but takes three times as long for its thousand files.
  if (empty) unpackTar(empty, folder)
  const database = await open(folder)
  await rm(unfinished)
  return database
}

async function open(folder: string, loadDataDir?: Blob): Promise<PgliteDatabase> {
  const { PGlite } = await loadPglite()
  const database = new PGlite(folder, loadDataDir && { loadDataDir })
  try {
    await database.waitReady
    return database
  } catch (cause) {
    const fault =
      `The embedded database in ${folder} cannot be opened: it is damaged, or another version of PGlite wrote it. ` +
      'Restore the data folder (DATA_DIR) from a backup, or choose another folder.'
    throw new ConfigurationError([fault], { cause })
  }
}

const holderSchema = z.object({
  pid: z.number().int().positive(),
  started: z.string(),
  token: z.string(),
  /** The inode of the folder, which a copy does not have. */
  folder: z.number(),
})
type Holder = z.output<typeof holderSchema>

const TAKEOVER_MS = 10_000
const STATE = 0
const START_TIME = 19
const lockedByThisProcess = new Set<string>()

/** Locks the folder and returns what unlocks it. The lock of a dead process is taken over; a running one throws a `ConfigurationError`. */
async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(resolve(folder), 'lock')
  if (lockedByThisProcess.has(file)) throw createInUseError(folder, process.pid)
  lockedByThisProcess.add(file)
  const mine: Holder = {
    pid: process.pid,
    started: statOf(process.pid)[START_TIME] ?? '',
    token: randomUUID(),
    folder: (await stat(folder)).ino,
  }
  try {
    if (!(await create(file, mine))) await takeOver(folder, file, mine)
  } catch (error) {
    lockedByThisProcess.delete(file)
    throw error
  }
  return async () => {
    if ((await findHolder(file))?.token === mine.token) await rm(file, { force: true })
    lockedByThisProcess.delete(file)
  }
}

async function create(file: string, holder: Holder): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(holder), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function takeOver(folder: string, file: string, mine: Holder): Promise<void> {
  const gate = `${file}.takeover`
  // Without the gate, two processes could both find the same dead holder and remove each other's new lock.
  await mkdir(gate).catch(async () => {
    const age =
      Date.now() -
      (await stat(gate).then(
        (found) => found.mtimeMs,
        () => 0,
      ))
    if (age >= 0 && age < TAKEOVER_MS) throw createInUseError(folder)
    await rmdir(gate).catch(() => {})
    await mkdir(gate)
  })
  try {
    const holder = await findHolder(file)
    if (holder && holder.folder !== mine.folder) throw createCopiedError(folder)
    if (holder && isAlive(holder)) throw createInUseError(folder, holder.pid)
    await rm(file, { force: true })
    if (!(await create(file, mine))) throw createInUseError(folder)
  } finally {
    await rmdir(gate).catch(() => {})
  }
}

async function findHolder(file: string): Promise<Holder | undefined> {
  try {
    return holderSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    return undefined
  }
}

function isAlive(holder: Holder): boolean {
  if (holder.pid === process.pid) return false
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const fields = statOf(holder.pid)
  if (fields.length === 0) return true
  // A killed process accepts signals until its parent reaps it, which in containers may never happen.
  if (fields[STATE] === 'Z' || fields[STATE] === 'X') return false
  // Process ids are reused: the start time distinguishes two processes with the same id.
  return holder.started === '' || fields[START_TIME] === holder.started
}

/** The fields of Linux's `/proc/<pid>/stat` from the process state on; empty where the file does not exist. */
function statOf(pid: number): string[] {
  const line = tryTo(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return line?.slice(line.lastIndexOf(')') + 2).split(' ') ?? []
}

function createInUseError(folder: string, pid?: number): ConfigurationError {
  const who = pid ? `process ${pid}` : 'another process'
  return new ConfigurationError([
    `The data folder ${folder} is in use by ${who}; two processes would lose each other's rows. ` +
      'Stop the other process, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL database.',
  ])
}

function createCopiedError(folder: string): ConfigurationError {
  return new ConfigurationError([
    `The data folder ${folder} was copied while a service was using it, or after one was killed, so rows may be missing or damaged. ` +
      'Stop the service that uses the original, and copy it again, or restore a backup.',
  ])
}
