import { createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { MAX_RECORDING_BYTES } from 'countersign/protocol'
import { fileTooLarge, type Received } from './recording-source.js'

class TooLarge extends Error {}

/** Writes a stream to a new file, and gives up at the first byte over the limit whatever its length was said to be. */
export async function keepFile(
  from: NodeJS.ReadableStream,
  path: string,
  signal: AbortSignal,
): Promise<Received> {
  let bytes = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > MAX_RECORDING_BYTES) done(new TooLarge())
      else done(null, chunk)
    },
  })
  try {
    await pipeline(from, counted, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
    return { outcome: 'received', path, bytes }
  } catch (error) {
    if (error instanceof TooLarge) return fileTooLarge
    throw error
  }
}
