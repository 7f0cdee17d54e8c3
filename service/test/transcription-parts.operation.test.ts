import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Busboy } from '@fastify/busboy'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { decode } from '../src/transcription/decode.js'
import { parseEngine } from '../src/transcription/engine-options.js'
import { openAiTranscriber } from '../src/transcription/engines/openai-transcriber.js'
import { pocketsphinx } from '../src/transcription/engines/pocketsphinx.js'
import type { Recording } from '../src/transcription/engines/transcriber.js'
import { listen } from './kit.js'
import { ffmpeg, GO_FORWARD, hasRealEngine } from './recordings.js'

const SAID = 'go forward ten meters'
const BYTES_PER_SECOND = 32_000
const signal = new AbortController().signal

let folder: TemporaryFolder
let utteranceSeconds: number
beforeAll(async () => {
  folder = temporaryFolder()
  const [utterance] = hasRealEngine() ? utterancesIn(await readFile(GO_FORWARD)) : []
  utteranceSeconds = utterance ? utterance.end - utterance.start : 0
})
afterAll(() => folder.remove())

/** A recording in which "go forward ten meters" is said this often, with pauses between, as decoded for engines. */
async function said(times: number, pauseSeconds = 0): Promise<Recording & { readonly sound: Buffer }> {
  const path = join(folder.path, String(times), 'said.flac')
  const once = join(folder.path, String(times), 'once.wav')
  await mkdir(dirname(path))
  const raw = ['-f', 's16le', '-ar', '16000', '-ac', '1', '-i', GO_FORWARD]
  await ffmpeg(...raw, '-af', `apad=pad_dur=${pauseSeconds}`, once)
  await ffmpeg('-stream_loop', String(times - 1), '-i', once, path)
  const decoded = await decode(path, 4 * 3_600, signal)
  if (decoded.outcome === 'refused') throw new Error(decoded.refusal.reason)
  const sound = await soundOf(decoded.path)
  return { path: decoded.path, durationSeconds: decoded.durationSeconds, withTimes: true, signal, sound }
}

/** The samples in a file. */
async function soundOf(path: string): Promise<Buffer> {
  await ffmpeg('-i', path, '-f', 's16le', `${path}.raw`)
  return readFile(`${path}.raw`)
}

interface Heard {
  readonly bytes: number
  readonly type: string
  readonly sound: Buffer
}

/** The answer of an engine about a file that it received. */
type Engine = (path: string) => Promise<unknown>

/** A server with the API and the limit of OpenAI, whose engine hears the files that it accepts. */
async function openAiServer(limitBytes: number, engine: Engine) {
  const heard: Heard[] = []
  const refused: number[] = []
  const server = await listen(async (request, response) => {
    let bytes = 0
    let type = ''
    const path = join(folder.path, `received-${heard.length + refused.length}`)
    const saved: Promise<void>[] = []
    const form = new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
    })
    form.on('file', (_field, stream, _name, _encoding, given) => {
      type = given
      saved.push(pipeline(stream, createWriteStream(path)))
    })
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    await pipeline(request, form)
    await Promise.all(saved)
    const isRefused = bytes > limitBytes
    if (isRefused) refused.push(bytes)
    else heard.push({ bytes, type, sound: await soundOf(path) })
    const message = `Maximum content size limit (${limitBytes}) exceeded (${bytes} bytes read)`
    const body = isRefused ? { error: { message, type: 'server_error', param: null } } : await engine(path)
    response
      .writeHead(isRefused ? 413 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
  })
  onTestFinished(() => server.close())
  return { url: server.url, heard, refused }
}

/** An engine that hears whether something was said, and whether it was all of it. */
const measuring: Engine = async (path) => {
  const sound = await soundOf(path)
  const segments = utterancesIn(sound).map(({ start, end }) => {
    const isWhole = Math.abs(end - start - utteranceSeconds) < 0.05
    return { text: isWhole ? SAID : 'a fragment', start, end: end + 0.5 }
  })
  return { text: segments.map(({ text }) => text).join(' '), language: 'english', segments }
}

/** Where something is said, in seconds: louder than the noise, with pauses of less than half a second. */
function utterancesIn(sound: Buffer) {
  const utterances: { start: number; end: number }[] = []
  for (let at = 0; at + 640 <= sound.length; at += 640) {
    let energy = 0
    for (let sample = at; sample < at + 640; sample += 2) energy += sound.readInt16LE(sample) ** 2
    if (Math.sqrt(energy / 320) < 300) continue
    const [start, end] = [at / BYTES_PER_SECOND, (at + 640) / BYTES_PER_SECOND]
    const last = utterances.at(-1)
    if (last && start - last.end < 0.5) last.end = end
    else utterances.push({ start, end })
  }
  return utterances
}

function chosen(address: string) {
  const engine = parseEngine(address)
  if (typeof engine === 'string' || engine.by !== 'server') throw new Error('no server')
  return openAiTranscriber({ ...engine, apiKey: undefined })
}

describe.skipIf(!hasRealEngine())('a recording above the limit of a transcription server', () => {
  const LIMIT_BYTES = 25 * 1024 * 1024
  // Odd, so that the middle of the recording is in the middle of a word.
  const TIMES = 331
  let long: Awaited<ReturnType<typeof said>>
  beforeAll(async () => {
    long = await said(TIMES)
  })

  test.each([
    ['wav', '', 'audio/wav'],
    ['flac', '&upload_format=flac&upload_megabytes=5', 'audio/flac'],
  ])(
    'is sent as %s in parts that are cut at silence, and no sample is lost or sent twice',
    async (_format, parameters, type) => {
      const megabytes = parameters === '' ? 25 : 5
      const server = await openAiServer(megabytes * 1024 * 1024, measuring)
      const transcript = await chosen(`${server.url}?model=whisper-1${parameters}`).transcribe(long)
      expect(long.sound.length).toBeGreaterThan(LIMIT_BYTES)
      expect(server.refused).toEqual([])
      expect(server.heard.length).toBeGreaterThan(1)
      expect(new Set(server.heard.map((part) => part.type))).toEqual(new Set([type]))
      expect(digest(Buffer.concat(server.heard.map(({ sound }) => sound)))).toBe(digest(long.sound))

      const positions = utterancesIn(long.sound)
      expect(positions).toHaveLength(TIMES)
      expect(transcript.text).toBe(Array.from({ length: TIMES }, () => SAID).join(' '))
      expect(transcript.language).toBe('english')
      expect(transcript.segments?.map(({ startSeconds }) => startSeconds)).toEqual(
        positions.map(({ start }) => expect.closeTo(start, 1)),
      )
      const times = transcript.segments?.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds])
      expect(times).toEqual(times?.toSorted((a, b) => a - b))
    },
  )

  test('is refused with 413 by a server whose limit is lower than its address says, and the part is named', async () => {
    const server = await openAiServer(LIMIT_BYTES / 5, measuring)
    const failure = chosen(server.url).transcribe(long)
    await expect(failure).rejects.toMatchObject({
      code: 'engine_failed',
      detail: expect.stringMatching(
        /^Part 1 of 2: The transcription server responded with 413: Maximum content size limit \(5242880\) exceeded \(\d+ bytes read\)$/,
      ),
    })
  })

  test('is heard by a real engine as if it had been sent in one piece', async () => {
    // The engine takes longer for words than for pauses.
    const spoken = await said(7, 2)
    const real: Engine = async (path) => {
      const { text, words = [] } = await pocketsphinx().transcribe({ ...spoken, path })
      const timed = words.map(({ word, startSeconds, endSeconds }) => ({
        word,
        start: startSeconds,
        end: endSeconds,
      }))
      return { text, words: timed, segments: [] }
    }
    const server = await openAiServer(1024 * 1024, real)
    const transcript = await chosen(`${server.url}?upload_megabytes=1`).transcribe(spoken)
    expect(server.heard.length).toBeGreaterThan(1)
    expect(transcript.text).toBe(Array.from({ length: 7 }, () => SAID).join(' '))
    const starts = transcript.words
      ?.filter(({ word }) => word === 'go')
      .map(({ startSeconds }) => startSeconds)
    expect(starts).toEqual(utterancesIn(spoken.sound).map(({ start }) => expect.closeTo(start, 0)))
  })
})

test.skipIf(!hasRealEngine())('a recording below the limit is sent as it was decoded', async () => {
  const server = await openAiServer(25 * 1024 * 1024, measuring)
  const recording = await said(1)
  expect(await chosen(server.url).transcribe(recording)).toMatchObject({ text: SAID })
  expect(server.heard.map(({ sound }) => digest(sound))).toEqual([digest(recording.sound)])
})

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
