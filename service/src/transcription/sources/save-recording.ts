import { createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { transcriptionWire } from 'countersign/protocol'
import { fileTooLarge, type Received } from './recording-source.js'

class TooLargeError extends Error {}

/** Writes a stream to a new file, and stops at the first byte over the limit, whatever its declared length. */
export async function saveRecording(
  stream: NodeJS.ReadableStream,
  path: string,
  signal: AbortSignal,
): Promise<Received> {
  let bytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > transcriptionWire.MAX_RECORDING_BYTES) done(new TooLargeError())
      else done(null, chunk)
    },
  })
  try {
    await pipeline(stream, counter, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
    return { outcome: 'received', path, bytes }
  } catch (error) {
    if (error instanceof TooLargeError) return fileTooLarge
    throw error
  }
}
