import { randomBytes } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Upload } from '../client/transport.js'

/** A multipart body with one file that is streamed from disk. */
export interface FileUpload extends Upload {
  close(): Promise<void>
}

/** A local file as the part `file` of a form (RFC 7578), after `fields`. @throws Node's error if unreadable. */
export async function uploadOf(
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<FileUpload> {
  const handle = await open(path, 'r')
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new Error('The recording to transcribe must be a file, not a directory.')
    return createMultipart(handle, { size: stats.size, name: basename(path), fields })
  } catch (error) {
    await handle.close()
    throw error
  }
}

interface FormParts {
  readonly size: number
  readonly name: string
  readonly fields: Readonly<Record<string, string>>
}

function createMultipart(handle: FileHandle, { size, name, fields }: FormParts): FileUpload {
  const boundary = `countersign-${randomBytes(18).toString('hex')}`
  const others = Object.entries(fields).map(
    ([field, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${encodeQuoted(field)}"\r\n\r\n${value}\r\n`,
  )
  const head = Buffer.from(
    `${others.join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${encodeQuoted(name)}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: head.length + size + tail.length,
    async *read() {
      yield head
      // If the file grows meanwhile, only its original length is sent; if it shrinks, the request fails.
      if (size > 0) yield* handle.createReadStream({ start: 0, end: size - 1, autoClose: false })
      yield tail
    },
    close: () => handle.close(),
  }
}

/** Percent-encodes quotes and line breaks, as RFC 7578 §4.2 and the HTML standard require. */
function encodeQuoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
