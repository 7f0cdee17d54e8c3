import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BYTES_PER_SECOND, runProgram, WAV_HEADER_BYTES } from '../decode.js'
import type { Recording } from './transcriber.js'

/** The form in which a transcription server accepts recordings. */
export interface UploadRules {
  readonly format: 'wav' | 'flac'
  readonly maxBytes: number
}

/** A part of a recording as a file, with its times in seconds. The last one has no end. */
export interface RecordingPart {
  readonly start: number
  readonly end: number
  readonly path: string
}

type Span = Omit<RecordingPart, 'path'>

/** More than a form has around its file. */
const FORM_BYTES = 64 * 1024
/** The share of the limit that parts have on average: a cut lies up to an eighth of a part earlier or later. */
const FILL = 0.8
const MAX_REACH_SECONDS = 60
const FRAME_SECONDS = 0.02
const FRAME_BYTES = FRAME_SECONDS * BYTES_PER_SECOND
/** A quarter of a second. */
const PAUSE_FRAMES = 12

/** Cuts a recording at silence into parts that a server accepts. Each begins where the one before it ends. */
export async function cutParts(
  recording: Recording,
  rules: UploadRules,
  span: Span = { start: 0, end: Infinity },
): Promise<readonly RecordingPart[]> {
  const path = await writePart(recording, rules.format, span)
  const share = (await stat(path)).size / (rules.maxBytes - FORM_BYTES)
  if (share <= 1) return [{ ...span, path }]
  const count = Math.ceil(share / FILL)
  const length = (Math.min(span.end, recording.durationSeconds) - span.start) / count
  const reach = Math.min(length / 8, MAX_REACH_SECONDS)
  const parts: RecordingPart[] = []
  let start = span.start
  for (let part = 1; part <= count; part++) {
    const middle = span.start + part * length
    const end = part < count ? await findQuietest(recording.path, middle - reach, middle + reach) : span.end
    parts.push(...(await cutParts(recording, rules, { start, end })))
    start = end
  }
  return parts
}

async function writePart({ path, signal }: Recording, format: string, { start, end }: Span): Promise<string> {
  if (start === 0 && end === Infinity && format === 'wav') return path
  const folder = dirname(path)
  const part = join(folder, `${start}-${end}.${format}`)
  const times = ['-ss', String(start), ...(end === Infinity ? [] : ['-to', String(end)])]
  const command = ['ffmpeg', '-nostdin', '-v', 'error', '-y', ...times, '-i', path, part] as const
  const { status, errorOutput } = await runProgram(command, { folder, signal })
  if (status !== 0) throw new Error(`ffmpeg exited with status ${status ?? 'none'}: ${errorOutput}`)
  return part
}

/** The place between two others, in seconds, that is quietest together with what is around it. */
async function findQuietest(path: string, from: number, to: number): Promise<number> {
  const first = Math.ceil(from / FRAME_SECONDS)
  const energies = await measureEnergies(path, first, Math.floor(to / FRAME_SECONDS))
  let quietest = { frame: 0, energy: Infinity }
  for (const frame of energies.keys()) {
    let energy = 0
    for (let away = -PAUSE_FRAMES; away <= PAUSE_FRAMES; away++) {
      // The sound further away was not read, and counts as loud.
      energy += (energies[frame + away] ?? 1e12) * (1 - Math.abs(away) / (PAUSE_FRAMES + 1))
    }
    if (energy < quietest.energy) quietest = { frame, energy }
  }
  return Math.round((first + quietest.frame + 0.5) * FRAME_SECONDS * 100) / 100
}

async function measureEnergies(path: string, first: number, end: number): Promise<number[]> {
  const getOffset = (frame: number) => WAV_HEADER_BYTES + frame * FRAME_BYTES
  const range = { start: getOffset(first), end: getOffset(end) - 1 }
  const sound = Buffer.concat(await createReadStream(path, range).toArray())
  return Array.from({ length: end - first }, (_, frame) => {
    const samples = sound.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES)
    return new Int16Array(Uint8Array.from(samples).buffer).reduce((sum, sample) => sum + sample ** 2, 0)
  })
}
