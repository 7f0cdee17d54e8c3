import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withinTime } from '../time-limit.js'
import { run } from './child-process.js'
import { type RecordingRefused, recordingTooLong, unsupportedMedia } from './sources/recording-source.js'

const LONGEST_SECONDS = 600
const DECODE_MS = 60_000
const WAV_HEADER_BYTES = 44
const BYTES_PER_SECOND = 32_000

const FORMATS = 'wav,mp3,flac,ogg,matroska,webm,mov,mp4,m4a,3gp,aac,aiff,amr,caf'

/** A recording that every engine can read. */
export interface Decoded {
  readonly outcome: 'decoded'
  readonly path: string
  readonly durationSeconds: number
}

/** The first sound track of a file as WAV, 16 kHz, one channel. */
export async function decode(path: string, signal: AbortSignal): Promise<Decoded | RecordingRefused> {
  const folder = dirname(path)
  const decoded = join(folder, 'decoded.wav')
  // A playlist or script is a list of other addresses and files: the white lists keep ffmpeg to this one file.
  const reading = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS]
  // Half a second over, so that a recording which is too long can be told from one that just fits.
  const limits = ['-t', String(LONGEST_SECONDS + 0.5), '-threads', '1']
  const writing = ['-map', '0:a:0', '-vn', '-sn', '-dn', '-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le']
  const plain = ['-map_metadata', '-1', '-fflags', '+bitexact', '-fs', '38400000', '-f', 'wav', decoded]
  const input = [...reading, ...limits, '-i', path]
  const decoding = ['-nostdin', '-hide_banner', '-v', 'error', ...input, ...writing, ...plain]
  const ended = await withinTime(
    DECODE_MS,
    [signal],
    (within) => run(['ffmpeg', ...decoding], { folder, signal: within }),
    () => undefined,
  )
  if (ended?.status !== 0) return unsupportedMedia
  const durationSeconds = Math.max((await stat(decoded)).size - WAV_HEADER_BYTES, 0) / BYTES_PER_SECOND
  if (durationSeconds > LONGEST_SECONDS) return recordingTooLong
  return { outcome: 'decoded', path: decoded, durationSeconds: Math.round(durationSeconds * 100) / 100 }
}
