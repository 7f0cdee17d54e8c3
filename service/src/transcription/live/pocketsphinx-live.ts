import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { readJson } from '../../json.js'
import { PACKAGE_FOLDER } from '../../process/own-package.js'
import { EngineError } from '../engines/transcriber.js'
import type { EngineStream, LiveTranscriber, StreamRequest } from './live-transcription.js'

// Debian's, for which its package python3-pocketsphinx is built.
const PYTHON = '/usr/bin/python3'
const BINDING = '/usr/lib/python3/dist-packages/pocketsphinx/__init__.py'
const MODEL = '/usr/share/pocketsphinx/model/en-us'
const DECODER = fileURLToPath(new URL('decoders/pocketsphinx.py', PACKAGE_FOLDER))
const READY_TIMEOUT_MS = 15_000

const milliseconds = z.number().int().nonnegative()
const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('partial'), text: z.string() }),
  z.object({ type: z.literal('final'), text: z.string(), start_ms: milliseconds, end_ms: milliseconds }),
])

/** Whether Debian's packages `python3-pocketsphinx` and `pocketsphinx-en-us` are installed. */
export function hasLivePocketsphinx(): boolean {
  return [PYTHON, BINDING, MODEL].every((path) => existsSync(path))
}

/** CMU PocketSphinx with its English model. Each stream is a process with about 110 MB of memory. */
export function livePocketsphinx(
  command: readonly [string, ...string[]] = [PYTHON, '-I', DECODER],
): LiveTranscriber {
  return { name: 'pocketsphinx', languages: ['en'], open: (request) => openDecoder(command, request) }
}

function openDecoder(
  [program, ...args]: readonly [string, ...string[]],
  { onPiece, onFailure, signal }: StreamRequest,
): Promise<EngineStream> {
  signal.throwIfAborted()
  const { PATH, LANG } = process.env
  const child = spawn(program, args, {
    cwd: tmpdir(),
    env: { PATH, LANG, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stderr.resume()
  const kill = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))

  return new Promise((resolve, reject) => {
    let isOpen = false
    const timer = setTimeout(() => {
      kill()
      reject(new EngineError('engine_unavailable', 'pocketsphinx did not start in time.'))
    }, READY_TIMEOUT_MS)
    const fail = (message: string) => {
      clearTimeout(timer)
      const error = new EngineError('engine_failed', message)
      if (isOpen) onFailure(error)
      reject(error)
    }
    child.on('error', (error) => fail(`pocketsphinx could not be started: ${error.message}`))
    child.on('close', (status, killedBy) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
      if (signal.aborted) return reject(signal.reason)
      if (status !== 0) fail(`pocketsphinx ended with ${killedBy ?? `status ${status}`}.`)
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      // The binding prints messages of its own.
      const piece = lineSchema.safeParse(readJson(line)).data
      if (!piece || signal.aborted) return
      if (piece.type === 'ready') {
        clearTimeout(timer)
        isOpen = true
        resolve(createStream(child, closed))
      } else if (piece.type === 'partial') onPiece(piece)
      else onPiece({ type: 'final', text: piece.text, startMs: piece.start_ms, endMs: piece.end_ms })
    })
  })
}

function createStream({ stdin }: ChildProcessWithoutNullStreams, closed: Promise<void>): EngineStream {
  // A decoder that ended is reported by its exit.
  stdin.on('error', () => {})
  return {
    async write(pcm) {
      if (stdin.destroyed || stdin.write(pcm)) return
      await new Promise<void>((resolve) => {
        const proceed = () => {
          stdin.off('drain', proceed).off('close', proceed)
          resolve()
        }
        stdin.on('drain', proceed).on('close', proceed)
      })
    },
    async end() {
      stdin.end()
      await closed
    },
  }
}

/** Converts PCM (16 bits, mono) from 16 to 24 kHz by linear interpolation, chunk by chunk: speech at 16 kHz has nothing above 8 kHz. */
export function to24kHz(): (pcm: Buffer) => Buffer {
  let samples = new Int16Array()
  /** Position of the next output sample in `samples`, in thirds of a sample. */
  let thirds = 0

  return (pcm) => {
    const more = Int16Array.from({ length: pcm.length >> 1 }, (_, i) => pcm.readInt16LE(2 * i))
    samples = Int16Array.from([...samples, ...more])
    const output: number[] = []
    for (; Math.floor(thirds / 3) + 1 < samples.length; thirds += 2) {
      const index = Math.floor(thirds / 3)
      const [before = 0, after = 0] = [samples[index], samples[index + 1]]
      output.push(Math.round(before + ((after - before) * (thirds % 3)) / 3))
    }
    const used = Math.min(Math.floor(thirds / 3), samples.length)
    samples = samples.slice(used)
    thirds -= 3 * used
    return Buffer.from(Int16Array.from(output).buffer)
  }
}
