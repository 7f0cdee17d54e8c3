import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { keepFile } from './keep-file.js'
import type { Source } from './received.js'

/** A file of this machine, named by code in this process; never by a call over HTTP. */
export function fromPath(path: string): Source {
  return {
    name: basename(path),
    receive: (kept, signal) => keepFile(createReadStream(path), kept, signal),
  }
}
