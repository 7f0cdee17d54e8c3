import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gunzip, gzip, type ZlibOptions } from 'node:zlib'
import { loadPglite } from './pglite-module.js'

// `src` and `dist` are at the same depth in the package, so one path fits both.
const FOLDER = new URL('../../empty-database/', import.meta.url)

// Unpacking 40 MB in the default chunks of 16 KB takes three times as long.
const GUNZIP_OPTIONS = { chunkSize: 8 * 1024 * 1024 }

/**
 * The folder of an empty database as a tar file, which saves the seconds that `initdb` takes; `undefined` when the
 * package was built for another version of PGlite than the installed one.
 */
export async function emptyDatabase(): Promise<Buffer<ArrayBuffer> | undefined> {
  try {
    return await promisify<Buffer, ZlibOptions, Buffer<ArrayBuffer>>(gunzip)(
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
