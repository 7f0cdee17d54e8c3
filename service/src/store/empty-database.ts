import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip, type ZlibOptions } from 'node:zlib'
import { ConfigurationError } from '../process/configuration-error.js'
import { PACKAGE_FOLDER } from '../process/own-package.js'

const FOLDER = new URL('empty-database/', PACKAGE_FOLDER)

// Unpacking 40 MB in the default chunks of 16 KB takes three times as long.
const GUNZIP_OPTIONS = { chunkSize: 8 * 1024 * 1024 }

/** An empty database as a tar file, which saves the seconds of `initdb`; `undefined` when it was built for another PGlite. */
export async function emptyDatabase(): Promise<Buffer | undefined> {
  try {
    return await promisify<Buffer, ZlibOptions, Buffer>(gunzip)(
      await readFile(await fileOfInstalled()),
      GUNZIP_OPTIONS,
    )
  } catch {
    // The file only saves time: without it PGlite initializes the database itself.
    return undefined
  }
}

/** Creates the file that `emptyDatabase` reads, unless it exists. Part of the build. */
export async function makeEmptyDatabase(): Promise<void> {
  const file = await fileOfInstalled()
  if (existsSync(file)) return
  const { PGlite } = await loadPglite()
  const database = new PGlite('memory://')
  await database.waitReady
  const dump = await database.dumpDataDir('none')
  await database.close()
  await mkdir(FOLDER, { recursive: true })
  // The rename is atomic, so a concurrent build never reads half a file.
  const unfinished = new URL(`${randomUUID()}.tmp`, FOLDER)
  await writeFile(unfinished, await promisify(gzip)(Buffer.from(await dump.arrayBuffer())))
  await rename(unfinished, file)
}

/** The file for the installed version of PGlite: one version may be unable to read what another one wrote. */
async function fileOfInstalled(): Promise<URL> {
  const main = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version } = JSON.parse(await readFile(new URL('../package.json', `file://${main}`), 'utf8'))
  return new URL(`pglite-${version}.tar.gz`, FOLDER)
}

const BLOCK = 512
const FOLDER_TYPE = '5'

/** Unpacks a tar file, as PGlite dumps a database, into a folder that only the current user can read, created if necessary. */
export function unpackTar(tar: Buffer, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let offset = 0
  // Two blocks of zeros mark the end.
  while (tar[offset]) {
    const header = tar.subarray(offset, offset + BLOCK)
    const path = join(folder, headerField(header, 0, 100))
    const size = Number.parseInt(headerField(header, 124, 12), 8)
    offset += BLOCK
    if (headerField(header, 156, 1) === FOLDER_TYPE) mkdirSync(path, { recursive: true, mode: 0o700 })
    else writeFileSync(path, tar.subarray(offset, offset + size), { mode: 0o600 })
    offset += Math.ceil(size / BLOCK) * BLOCK
  }
}

/** A field of a header, without the zeros that pad it. */
function headerField(header: Buffer, from: number, length: number): string {
  return header.toString('utf8', from, from + length).replace(/\0.*$/s, '')
}

// PGlite's own types need those of the DOM and of Emscripten, so the few methods that we call are declared here.

/** Runs statements: a PGlite database, or a transaction in it. */
export interface PgliteClient {
  /** The rows of one statement. */
  query<Row>(text: string, params?: unknown[]): Promise<{ rows: Row[] }>
  /** Runs several statements. */
  exec(text: string): Promise<unknown>
}

/** A PGlite database. */
export interface PgliteDatabase extends PgliteClient {
  /** Resolves when the database is open; rejects when it cannot be opened. */
  readonly waitReady: Promise<void>
  /** Commits what `work` did, unless it throws. */
  transaction<T>(work: (tx: PgliteClient) => Promise<T>): Promise<T>
  /** The data folder as a tar file. */
  dumpDataDir(compression: 'none'): Promise<Blob>
  /** Ends the database. */
  close(): Promise<void>
}

/** The part of `@electric-sql/pglite` that is used. */
export interface PgliteModule {
  readonly PGlite: new (folder: string, options?: { readonly loadDataDir?: Blob }) => PgliteDatabase
}

/** Loads PGlite, an optional dependency. Throws a `ConfigurationError` when it is not installed. */
export async function loadPglite(): Promise<PgliteModule> {
  const name: string = '@electric-sql/pglite'
  try {
    return (await import(name)) as PgliteModule
  } catch (cause) {
    const fault =
      'The embedded database is not installed: install `@electric-sql/pglite`, or set `databaseUrl` (DATABASE_URL).'
    throw new ConfigurationError([fault], { cause })
  }
}
