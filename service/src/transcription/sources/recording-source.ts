import { createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { TranscribeAnswer } from 'countersign/speech'
import type { SpeechOptions } from '../engines/transcriber.js'
import type { RecordingLimits } from '../recording-limits.js'

/** A refusal of a recording. */
export type RecordingRefused = Extract<TranscribeAnswer, { readonly outcome: 'refused' }>

/** A received file, or why it was refused. */
export type Received =
  | {
      readonly outcome: 'received'
      readonly path: string
      readonly bytes: number
      /** The statements of the caller about the speech, if it came with the file. */
      readonly speech?: SpeechOptions
    }
  | RecordingRefused

/** Where a recording comes from. */
export interface RecordingSource {
  /** The name in the log; of an address, without its query. */
  readonly name: string
  /** Writes the recording to `path`, unless it is too large or takes too long to arrive. */
  receive(path: string, signal: AbortSignal, limits: RecordingLimits): Promise<Received>
}

/** The request names no recording, or describes it wrongly; the message says what is wrong with the parameter `field`. */
export class InvalidSourceError extends Error {
  override readonly name = 'InvalidSourceError'
  readonly field: string

  constructor(message: string, field = 'file') {
    super(message)
    this.field = field
  }
}

/** Refuses a recording for a reason that says everything. */
export function refuseRecording(
  reason: Exclude<RecordingRefused['refusal']['reason'], 'busy'>,
): RecordingRefused {
  return { outcome: 'refused', refusal: { reason } }
}

/** The refusal of a file without a sound track. */
export const noSound: RecordingRefused = {
  outcome: 'refused',
  refusal: { reason: 'unsupported_media', detail: 'The file contains no sound.' },
}

/** Refuses an address from which no file came. */
export function fetchFailed(detail: string): RecordingRefused {
  return { outcome: 'refused', refusal: { reason: 'fetch_failed', detail } }
}

/** Refuses a recording because too many are under way. */
export function busy(retryAfterSeconds: number): RecordingRefused {
  return { outcome: 'refused', refusal: { reason: 'busy', retryAfterSeconds } }
}

class TooLargeError extends Error {}

/** Writes a stream to a new file, and stops at the first byte over the limit, whatever its declared length. */
export async function saveRecording(
  stream: NodeJS.ReadableStream,
  path: string,
  signal: AbortSignal,
  { maxBytes }: Pick<RecordingLimits, 'maxBytes'>,
): Promise<Received> {
  let bytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(new TooLargeError())
      else done(null, chunk)
    },
  })
  try {
    await pipeline(stream, counter, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
    return { outcome: 'received', path, bytes }
  } catch (error) {
    if (error instanceof TooLargeError) return refuseRecording('file_too_large')
    throw error
  }
}
