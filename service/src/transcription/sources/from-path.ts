import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
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

/** What is known of a file on this machine. Throws Node's own error if there is none, and another one if it is not a file. */
export async function fileStats(path: string): Promise<Stats> {
  const stats = await stat(path)
  if (!stats.isFile()) throw new Error('The recording must be a file.')
  return stats
}
