import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { limitTime } from '../time.js'
import { decodingTimeoutMs } from './recording-limits.js'
import { noSound, type RecordingRefused, refuseRecording } from './sources/recording-source.js'

/** The share of frames that cannot be decoded; more of them are noise to an engine, fewer are a scratch. */
const MAX_ERROR_RATE = 0.02
/** A frame that cannot be decoded, as ffmpeg reports it. */
const DECODING_ERROR = /Error (?:while decoding|submitting packet)|message repeated/g
/** The exit status of ffmpeg when more frames than that cannot be decoded. */
const TOO_MANY_ERRORS = 69
/** Shorter than any word. */
const MIN_SOUND_SECONDS = 0.1
/** The size of the header before the samples of a decoded recording. */
export const WAV_HEADER_BYTES = 44
/** The size of a second of a decoded recording. */
export const BYTES_PER_SECOND = 32_000

const FORMATS = 'wav,mp3,flac,ogg,matroska,webm,mov,mp4,m4a,3gp,aac,aiff,amr,caf'

/** A recording that every engine can read. */
export interface Decoded {
  readonly outcome: 'decoded'
  readonly path: string
  readonly durationSeconds: number
}

/** Decodes the first audio track of a file to WAV, 16 kHz, mono. */
export async function decode(
  path: string,
  maxSeconds: number,
  signal: AbortSignal,
): Promise<Decoded | RecordingRefused> {
  const folder = dirname(path)
  const decoded = join(folder, 'decoded.wav')
  // A playlist or script refers to other addresses and files: the allowlists restrict ffmpeg to this one file.
  const input = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS]
  // Half a second more than the maximum, to distinguish a recording that is too long from one that just fits.
  const seconds = maxSeconds + 0.5
  const limits = ['-t', String(seconds), '-threads', '1', '-max_error_rate', String(MAX_ERROR_RATE)]
  const track = ['-map', '0:a:0', '-vn', '-sn', '-dn']
  const audio = [...track, '-ar', '16000', '-c:a', 'pcm_s16le']
  const maxBytes = String(Math.ceil((seconds + 1) * BYTES_PER_SECOND))
  const output = ['-map_metadata', '-1', '-fflags', '+bitexact', '-fs', maxBytes, '-f', 'wav', decoded]
  const reading = [...input, ...limits, '-i', path]
  const result = await limitTime(
    decodingTimeoutMs(maxSeconds),
    [signal],
    async (within) => {
      const run = (verbosity: string, ...args: readonly string[]) =>
        runProgram(['ffmpeg', '-nostdin', '-hide_banner', '-v', verbosity, ...reading, ...args], {
          folder,
          signal: within,
        })
      // Two outputs: in one, ffmpeg would mix the channels before they are measured.
      const discarded = ['-f', 'null', '-']
      const filters = [LEVELS, `${MIX},${LEVELS}`]
      const measured = filters.flatMap((filter) => [...track, '-af', filter, ...discarded])
      const levels = await run('info', ...measured)
      return await run('error', '-af', createChannelFilter(levels.errorOutput), ...audio, ...output)
    },
    () => undefined,
  )
  // The last frame of a file that was cut off is an error, and in a short one already more than the share.
  const isCutOff =
    result?.status === TOO_MANY_ERRORS && result.errorOutput.match(DECODING_ERROR)?.length === 1
  const damaged = refuseRecording('recording_damaged')
  if (result?.status === TOO_MANY_ERRORS && !isCutOff) return damaged
  if (result?.status !== 0 && !isCutOff)
    return result?.errorOutput.includes('matches no streams') ? noSound : refuseRecording('unsupported_media')
  const durationSeconds = Math.max((await stat(decoded)).size - WAV_HEADER_BYTES, 0) / BYTES_PER_SECOND
  if (durationSeconds > maxSeconds) return refuseRecording('recording_too_long')
  // Reading ended with an error instead of the end of the file. A file that was merely cut off has an end.
  const brokeOff = result.errorOutput.includes(`${path}: `)
  if (brokeOff || (result.errorOutput && durationSeconds < MIN_SOUND_SECONDS)) return damaged
  return { outcome: 'decoded', path: decoded, durationSeconds: Math.round(durationSeconds * 100) / 100 }
}

const MIX = 'aformat=channel_layouts=mono'
/** Prints the level of each channel. */
const LEVELS = 'astats=measure_perchannel=RMS_level:measure_overall=none'

/** The filter that makes one channel: the mix, unless it has lost most of the energy, where channels cancel each other out or are left out. */
function createChannelFilter(levels: string): string {
  const energies = [...levels.matchAll(/astats_(\d).*RMS level dB: (-?[\d.]+)?/g)].map(
    ([, filter, decibels = '-Infinity']) => ({
      isMix: filter !== '0',
      energy: 10 ** (Number(decibels) / 10),
    }),
  )
  const mix = energies.find(({ isMix }) => isMix)?.energy ?? 0
  const channels = energies.filter(({ isMix }) => !isMix).map(({ energy }) => energy)
  const loudest = Math.max(...channels)
  // In the mix of several speakers, each of n channels has an nth of its energy.
  return mix * channels.length * 4 < loudest ? `pan=mono|c0=c${channels.indexOf(loudest)}` : MIX
}

/** A day of speech, with a line for each word. */
const MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024
const MAX_ERROR_CHARACTERS = 2_000

/** The result of a program. */
export interface ProgramResult {
  /** The exit status; `undefined` when a signal ended the program. */
  readonly status: number | undefined
  readonly output: string
  /** The end of what it wrote to standard error. */
  readonly errorOutput: string
}

/** Runs a program without shell, input and our secrets. When `signal` aborts, it is killed and the promise rejected with the reason. */
export function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  options: {
    readonly folder: string
    readonly signal: AbortSignal
    /** Called for each line of the output as soon as it is complete. */
    readonly onLine?: (line: string) => void
  },
): Promise<ProgramResult> {
  const { folder, signal, onLine = () => {} } = options
  return new Promise((resolve, reject) => {
    const { PATH, LANG } = process.env
    const child = spawn(program, args, {
      cwd: folder,
      env: { PATH, LANG, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    })
    let output = ''
    let errorOutput = ''
    let unfinished = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const lines = (unfinished + text).split('\n')
      unfinished = lines.pop() ?? ''
      if (!signal.aborted) lines.forEach(onLine)
      if (output.length > MAX_OUTPUT_CHARACTERS) child.kill('SIGKILL')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorOutput = (errorOutput + text).slice(-MAX_ERROR_CHARACTERS)
    })
    let failure: Error | undefined
    child.on('error', (error) => {
      failure = error
      // A program that did not start emits no `close`; a killed one does, after it has released its files.
      if (child.pid === undefined) reject(error)
    })
    child.on('close', (status) => {
      if (signal.aborted) reject(signal.reason)
      else if (failure) reject(failure)
      else resolve({ status: status ?? undefined, output, errorOutput: errorOutput.trim() })
    })
  })
}

/** Whether a program exists, given by its name on the PATH or by its path. */
export function isInstalled(program: string): boolean {
  const paths = program.includes('/')
    ? [program]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
  return paths.some((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Runs `work` with a folder that only this process's user can read, and deletes it afterwards in any case. */
export async function useTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-tr-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
