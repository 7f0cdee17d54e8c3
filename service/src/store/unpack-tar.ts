import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK = 512
const FOLDER = '5'

/**
 * Writes the folders and files of a tar file, as PGlite makes one of a database, under a folder that is made, too.
 * Nobody but this user may read them.
 */
export function unpack(tar: Buffer, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let at = 0
  // Two blocks of zeros are the end.
  while (tar[at]) {
    const header = tar.subarray(at, at + BLOCK)
    const path = join(folder, textIn(header, 0, 100))
    const size = Number.parseInt(textIn(header, 124, 12), 8)
    at += BLOCK
    if (textIn(header, 156, 1) === FOLDER) mkdirSync(path, { recursive: true, mode: 0o700 })
    else writeFileSync(path, tar.subarray(at, at + size), { mode: 0o600 })
    at += Math.ceil(size / BLOCK) * BLOCK
  }
}

/** A field of a header, which zeros fill up. */
function textIn(header: Buffer, from: number, length: number): string {
  return header.toString('utf8', from, from + length).replace(/\0.*$/s, '')
}
