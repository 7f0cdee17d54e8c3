import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK = 512
const FOLDER = '5'

/**
 * Unpacks a tar file, in the form in which PGlite dumps a database, into a folder, which is created if necessary. Only
 * the current user can read the result.
 */
export function unpackTar(tar: Buffer, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let offset = 0
  // Two blocks of zeros mark the end.
  while (tar[offset]) {
    const header = tar.subarray(offset, offset + BLOCK)
    const path = join(folder, headerField(header, 0, 100))
    const size = Number.parseInt(headerField(header, 124, 12), 8)
    offset += BLOCK
    if (headerField(header, 156, 1) === FOLDER) mkdirSync(path, { recursive: true, mode: 0o700 })
    else writeFileSync(path, tar.subarray(offset, offset + size), { mode: 0o600 })
    offset += Math.ceil(size / BLOCK) * BLOCK
  }
}

/** A field of a header, without the zeros that pad it. */
function headerField(header: Buffer, from: number, length: number): string {
  return header.toString('utf8', from, from + length).replace(/\0.*$/s, '')
}
