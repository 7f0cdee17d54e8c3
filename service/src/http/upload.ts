import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { Request } from 'express'
import { withinTime } from '../time-limit.js'
import { keepFile } from '../transcription/sources/save-recording.js'
import { fetchFailed, type Received, type Source, SourceFault } from '../transcription/sources/recording-source.js'
import { readTranscribe } from '../requests/inputs.js'

const UPLOAD_MS = 60_000
/** More than any address may have, so that one which is too long shows. */
const FIELD_BYTES = 4_096

/**
 * The part `file` of a multipart form: a file, written away while it arrives, or an address in a plain field. The name
 * that the caller gives the file is not used for anything. Throws a `SourceFault` when there is no such part, or two.
 */
export function fromForm(request: Request, fromAddress: (address: string) => Source): Source {
  return {
    name: 'upload',
    async receive(path, gone) {
      try {
        const part = await withinTime(
          UPLOAD_MS,
          [gone],
          (signal) => readPart(request, path, signal),
          () => ({ received: fetchFailed }),
        )
        return 'address' in part ? await fromAddress(addressIn(part)).receive(path, gone) : part.received
      } finally {
        // What is left of the body is thrown away, so that whoever is still sending it gets to read the answer.
        request.unpipe()
        request.resume()
      }
    },
  }
}

type Part = { readonly address: string } | { readonly received: Received }

/** The address as every other body would have to give it. */
function addressIn({ address }: { readonly address: string }): string {
  const reading = readTranscribe({ file: address })
  if (reading.ok) return reading.value.file
  throw new SourceFault(reading.faults.map(({ detail }) => detail).join('; '))
}

function readPart(request: Request, path: string, signal: AbortSignal): Promise<Part> {
  return new Promise((resolve, reject) => {
    const form = parserFor(request, reject)
    if (!form) return
    let found: Promise<Part> | undefined
    const find = (part: Promise<Part>) => {
      found = part
      part.catch(reject)
    }
    const refuseSecond = () => reject(new SourceFault('must be part of the form once'))
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    form.on('file', (name, stream) => {
      if (name !== 'file') return void stream.resume()
      if (found) {
        stream.resume()
        return refuseSecond()
      }
      find(
        keepFile(stream, path, signal).then((received) => {
          // Nobody wants the rest of what is refused already.
          if (received.outcome === 'refused') resolve({ received })
          return { received }
        }),
      )
    })
    form.on('field', (name, address) => {
      if (name !== 'file') return
      if (found) return refuseSecond()
      find(Promise.resolve({ address }))
    })
    form.on('error', () => reject(new SourceFault('could not be read as multipart/form-data')))
    form.on('finish', () => {
      signal.removeEventListener('abort', stop)
      if (found) resolve(found)
      else reject(new SourceFault('must be part of the form: a file, or the address of one'))
    })
    request.once('aborted', () => form.destroy())
    request.pipe(form)
  })
}

function parserFor(request: Request, reject: (fault: SourceFault) => void) {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: {
        files: 2,
        fields: 10,
        parts: 11,
        fieldSize: FIELD_BYTES,
        headerPairs: 20,
        headerSize: 4_096,
      },
    })
  } catch {
    reject(new SourceFault('could not be read as multipart/form-data'))
    return undefined
  }
}
