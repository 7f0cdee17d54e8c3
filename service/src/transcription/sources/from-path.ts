import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { RecordingSource } from './recording-source.js'
import { saveRecording } from './save-recording.js'

/** A file on this machine, named by code in this process and never by an HTTP request. */
export function fromPath(path: string): RecordingSource {
  return {
    name: basename(path),
    receive: (savedPath, signal) => saveRecording(createReadStream(path), savedPath, signal),
  }
}
