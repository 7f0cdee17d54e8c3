import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy'
import type { Request } from 'express'
import { Problem } from './problem.js'

const MAX_BYTES = 25 * 1024 * 1024

/** A multipart form with at most one file, which is written to a temporary folder. */
export interface Upload {
  /** The path of the file; `undefined` if no file was chosen. */
  readonly path: string | undefined
  /** The value of the field `file`. */
  readonly address: string | undefined
}

/** Receives a form, passes it to `use`, and deletes the file afterwards, also after an error. */
export async function withUpload<Answer>(
  req: Request,
  use: (upload: Upload) => Promise<Answer>,
): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'vault-'))
  const over = new AbortController()
  try {
    return await use(await receive(req, folder, over.signal))
  } finally {
    // If the upload breaks off, the file would stay open and keep its disk space until the process ends.
    over.abort()
    req.unpipe()
    req.resume()
    await rm(folder, { recursive: true, force: true })
  }
}

function receive(req: Request, folder: string, over: AbortSignal): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const unreadable = () => reject(new Problem('invalid_request', 'The form could not be read.'))
    const form = parserFor(req)
    if (!form) return unreadable()
    let address: string | undefined
    let written: Promise<string> | undefined
    form.on('field', (name, value) => {
      if (name === 'file') address = value
    })
    form.on('file', (_name, stream, filename: string | undefined) => {
      // Without a chosen file, a browser sends an empty part, and other programs one without a file name.
      if (written || !filename) return void stream.resume()
      written = keep(stream, join(folder, `recording${extensionOf(filename)}`), over)
      written.catch(reject)
    })
    form.on('error', unreadable)
    form.on('finish', () => {
      Promise.resolve(written).then((path) => resolve({ path, address }), reject)
    })
    req.once('aborted', unreadable)
    req.pipe(form)
  })
}

function parserFor(req: Request) {
  try {
    return new Busboy({
      headers: req.headers as BusboyHeaders,
      limits: { files: 1, fileSize: MAX_BYTES, fields: 5, fieldSize: 2_048, headerSize: 4_096 },
    })
  } catch {
    return undefined
  }
}

async function keep(stream: BusboyFileStream, path: string, over: AbortSignal): Promise<string> {
  await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal: over })
  if (stream.truncated) throw new Problem('file_too_large', 'Choose a file of at most 25 MB.')
  return path
}

/** The extension of the uploaded file's name, which a service may need. The rest of the name is not used. */
function extensionOf(filename: string): string {
  return /^\.[a-z0-9]{1,5}$/i.test(extname(filename)) ? extname(filename).toLowerCase() : ''
}
