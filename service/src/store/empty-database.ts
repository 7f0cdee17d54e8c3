import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gunzip, gzip, type ZlibOptions } from 'node:zlib'
import { loadPglite } from './pglite-module.js'

// The sources and the build lie equally deep in the package, so one path serves both.
const FOLDER = new URL('../../empty-database/', import.meta.url)

// 40 MB in pieces of the default 16 KB take three times as long.
const PIECES = { chunkSize: 8 * 1024 * 1024 }

/**
 * The folder of an empty database as a tar file, which spares a new one the seconds that `initdb` takes. Nothing when
 * the package was built for another version of PGlite than the one that is installed.
 */
export async function emptyDatabase(): Promise<Buffer<ArrayBuffer> | undefined> {
  try {
    return await promisify<Buffer, ZlibOptions, Buffer<ArrayBuffer>>(gunzip)(
      await readFile(await fileOfInstalled()),
      PIECES,
    )
  } catch {
    // It only saves time: PGlite makes the database itself.
    return undefined
  }
}

/** Makes the file that `emptyDatabase` reads, unless it is there. Part of the build. */
export async function makeEmptyDatabase(): Promise<void> {
  const file = await fileOfInstalled()
  if (existsSync(file)) return
  const { PGlite } = await loadPglite()
  const database = new PGlite('memory://')
  await database.waitReady
  const dump = await database.dumpDataDir('none')
  await database.close()
  await mkdir(FOLDER, { recursive: true })
  // Never half a file, whoever else builds at the same time.
  const unfinished = new URL(`${randomUUID()}.tmp`, FOLDER)
  await writeFile(unfinished, await promisify(gzip)(Buffer.from(await dump.arrayBuffer())))
  await rename(unfinished, file)
}

/** The file for the version of PGlite that is installed: one version need not read what another one wrote. */
async function fileOfInstalled(): Promise<URL> {
  const main = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version } = JSON.parse(await readFile(new URL('../package.json', `file://${main}`), 'utf8'))
  return new URL(`pglite-${version}.tar.gz`, FOLDER)
}
