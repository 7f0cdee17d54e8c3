import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { keepFile } from './save-recording.js'
import type { Source } from './recording-source.js'

/** A file of this machine, named by code in this process; never by a call over HTTP. */
export function fromPath(path: string): Source {
  return {
    name: basename(path),
    receive: (kept, signal) => keepFile(createReadStream(path), kept, signal),
  }
}
