import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withTimeLimit } from '../time-limit.js'
import { runProgram } from './child-process.js'
import { type RecordingRefused, recordingTooLong, unsupportedMedia } from './sources/recording-source.js'

const MAX_SECONDS = 600
const TIMEOUT_MS = 60_000
const WAV_HEADER_BYTES = 44
const BYTES_PER_SECOND = 32_000

const FORMATS = 'wav,mp3,flac,ogg,matroska,webm,mov,mp4,m4a,3gp,aac,aiff,amr,caf'

/** A recording that every engine can read. */
export interface Decoded {
  readonly outcome: 'decoded'
  readonly path: string
  readonly durationSeconds: number
}

/** Decodes the first audio track of a file to WAV, 16 kHz, mono. */
export async function decode(path: string, signal: AbortSignal): Promise<Decoded | RecordingRefused> {
  const folder = dirname(path)
  const decoded = join(folder, 'decoded.wav')
  // A playlist or script refers to other addresses and files: the allowlists restrict ffmpeg to this one file.
  const input = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS]
  // Half a second more than the maximum, to distinguish a recording that is too long from one that just fits.
  const limits = ['-t', String(MAX_SECONDS + 0.5), '-threads', '1']
  const audio = ['-map', '0:a:0', '-vn', '-sn', '-dn', '-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le']
  const output = ['-map_metadata', '-1', '-fflags', '+bitexact', '-fs', '38400000', '-f', 'wav', decoded]
  const common = ['-nostdin', '-hide_banner', '-v', 'error']
  const result = await withTimeLimit(
    TIMEOUT_MS,
    [signal],
    (within) =>
      runProgram(['ffmpeg', ...common, ...input, ...limits, '-i', path, ...audio, ...output], {
        folder,
        signal: within,
      }),
    () => undefined,
  )
  if (result?.status !== 0) return unsupportedMedia
  const durationSeconds = Math.max((await stat(decoded)).size - WAV_HEADER_BYTES, 0) / BYTES_PER_SECOND
  if (durationSeconds > MAX_SECONDS) return recordingTooLong
  return { outcome: 'decoded', path: decoded, durationSeconds: Math.round(durationSeconds * 100) / 100 }
}
