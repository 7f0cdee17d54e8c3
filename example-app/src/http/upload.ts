import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy'
import type { Request } from 'express'
import { Problem } from './problem.js'

const MAX_BYTES = 25 * 1024 * 1024

/** A multipart form with at most one file, which was written away while it arrived. */
export interface Upload {
  /** Path of the file; nothing when none was chosen. */
  readonly path: string | undefined
  /** What the field `file` says. */
  readonly address: string | undefined
}

/** Receives a form and hands it to `use`; the file is gone afterwards, whatever happens. */
export async function withUpload<Answer>(
  req: Request,
  use: (upload: Upload) => Promise<Answer>,
): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'vault-'))
  const over = new AbortController()
  try {
    return await use(await receive(req, folder, over.signal))
  } finally {
    // Of a form that breaks off nobody would end the file, which stays on the disk while it is open.
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
      // A browser sends an empty part when no file was chosen, other programs one without a name.
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
  if (stream.truncated) throw new Problem('file_too_large', 'At most 25 MB are taken.')
  return path
}

/** The only part of somebody else's file name that is kept; a service may go by it. */
function extensionOf(filename: string): string {
  return /^\.[a-z0-9]{1,5}$/i.test(extname(filename)) ? extname(filename).toLowerCase() : ''
}
