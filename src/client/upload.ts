import { randomBytes } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'

/** A multipart body with one file, read while it is sent. */
export interface Upload {
  readonly contentType: string
  readonly bytes: number
  read(): AsyncIterable<Uint8Array>
  /** Lets go of the file. */
  close(): Promise<void>
}

/**
 * A file of this machine as the part `file` of a form (RFC 7578); `undefined` when it is larger than `maxBytes`.
 * @throws Node's own error when it cannot be read or is no file.
 */
export async function uploadOf(path: string, maxBytes: number): Promise<Upload | undefined> {
  const handle = await open(path, 'r')
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new Error('What is to be transcribed must be a file.')
    if (found.size <= maxBytes) return multipart(handle, found.size, basename(path))
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  return undefined
}

function multipart(handle: FileHandle, size: number, name: string): Upload {
  const boundary = `countersign-${randomBytes(18).toString('hex')}`
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted(name)}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: head.length + size + tail.length,
    async *read() {
      yield head
      // A file that grows meanwhile is sent as long as it was; one that shrinks breaks the request off.
      if (size > 0) yield* handle.createReadStream({ start: 0, end: size - 1, autoClose: false })
      yield tail
    },
    close: () => handle.close(),
  }
}

/** RFC 7578 §4.2 by way of the HTML standard: what would end the quotes or the line is percent-encoded. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
