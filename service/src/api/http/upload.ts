import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { Request } from 'express'
import { parseAddress, parseTranscribe } from '../../flows/inputs.js'
import { limitTime } from '../../time.js'
import type { SpeechOptions } from '../../transcription/engines/transcriber.js'
import type { RecordingLimits } from '../../transcription/recording-limits.js'
import {
  fetchFailed,
  InvalidSourceError,
  type Received,
  type RecordingSource,
  saveRecording,
} from '../../transcription/sources/recording-source.js'
import { limitBody } from './body-limit.js'

/** The fields that say something about the speech or the transcript. */
const DESCRIPTIONS: readonly string[] = ['language', 'prompt', 'response_format']
/** More than any valid address has, so that one that is too long is recognized. */
const FIELD_BYTES = 4_096

/** The part `file` of a form: a file, saved as it arrives, or an address. Throws an `InvalidSourceError` unless there is exactly one. */
export function readForm(
  request: Request,
  fromAddress: (address: string) => RecordingSource,
): RecordingSource {
  return {
    name: 'upload',
    async receive(path, callerGone, limits) {
      const form = await receiveForm(request, path, callerGone, limits)
      const received =
        'received' in form ? form.received : await fromAddress(form.address).receive(path, callerGone, limits)
      return received.outcome === 'received' ? { ...received, speech: form.speech } : received
    },
  }
}

/** The contents of a form: an address, or a file that was saved or refused; and what it says about the speech. */
export type ReceivedForm = ({ readonly address: string } | { readonly received: Received }) & {
  readonly speech: SpeechOptions
}

/** Receives a multipart form, and saves its file to `path`. Throws an `InvalidSourceError` like `readForm`. */
export async function receiveForm(
  request: Request,
  path: string,
  callerGone: AbortSignal,
  limits: RecordingLimits,
): Promise<ReceivedForm> {
  limitBody(request, limits.arrivalMs)
  try {
    const part = await limitTime(
      limits.arrivalMs,
      [callerGone],
      (signal) => readPart(request, path, signal, limits),
      () => ({ received: fetchFailed('The file did not arrive in time.') }),
    )
    const { file, speech } = readDescription(part)
    return 'received' in part ? { received: part.received, speech } : { address: file, speech }
  } finally {
    // Discards the rest of the body, so that a caller who is still sending gets to read the response.
    limitBody(request)
    request.unpipe()
    request.resume()
  }
}

type Part = ({ readonly address: string } | { readonly received: Received }) & {
  readonly fields?: Readonly<Record<string, string>>
}

/** The address, and what the fields say about the speech, if they would be valid in any other body. */
function readDescription(part: Part) {
  // Beside a file, clients of other services send fields of their own.
  const { fields = {} } = part
  const described = Object.fromEntries(
    DESCRIPTIONS.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])),
  )
  const parsed =
    'address' in part
      ? parseAddress({ ...fields, file: part.address })
      : parseTranscribe({ ...described, file: 'upload' })
  if (parsed.ok) {
    const { file, ...speech } = parsed.value
    return { file, speech }
  }
  const [first] = parsed.errors
  throw new InvalidSourceError(parsed.errors.map(({ detail }) => detail).join('; '), first?.field)
}

function readPart(
  request: Request,
  path: string,
  signal: AbortSignal,
  limits: RecordingLimits,
): Promise<Part> {
  return new Promise((resolve, reject) => {
    const form = createParser(request, reject)
    if (!form) return
    let found: Promise<Part> | undefined
    const setPart = (part: Promise<Part>) => {
      found = part
      part.catch(reject)
    }
    const refuseSecond = () => reject(new InvalidSourceError('must be in the form only once'))
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    form.on('file', (name, stream) => {
      if (name !== 'file') return void stream.resume()
      if (found) {
        stream.resume()
        return refuseSecond()
      }
      setPart(
        saveRecording(stream, path, signal, limits).then((received) => {
          // Once the file is refused, the rest of the form does not matter.
          if (received.outcome === 'refused') resolve({ received })
          return { received }
        }),
      )
    })
    const fields: Record<string, string> = {}
    form.on('field', (name, address) => {
      if (DESCRIPTIONS.includes(name) && name in fields)
        reject(new InvalidSourceError('must be in the form only once', name))
      fields[name] = address
      if (name !== 'file') return
      if (found) return refuseSecond()
      setPart(Promise.resolve({ address }))
    })
    form.on('error', () => reject(new InvalidSourceError('could not be parsed as multipart/form-data')))
    form.on('finish', () => {
      signal.removeEventListener('abort', stop)
      if (found) resolve(found.then((part) => ({ ...part, fields })))
      else reject(new InvalidSourceError('must be in the form: a file, or the address of one'))
    })
    request.once('aborted', () => form.destroy())
    request.pipe(form)
  })
}

function createParser(request: Request, reject: (error: InvalidSourceError) => void) {
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
    reject(new InvalidSourceError('could not be parsed as multipart/form-data'))
    return undefined
  }
}
