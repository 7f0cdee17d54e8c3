import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { type CountersignService, createService } from '@countersign/service'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { missing } from '../../test/kit/debian-packages.js'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { API_KEY, eventually, SECRET } from './kit.js'
import { GO_FORWARD } from './recordings.js'
import { openTestStream, type TestStream } from './stream-client.js'

const SAID = 'go forward ten meters'
const STREAMS = 4
// 50 ms of audio.
const BLOCK_BYTES = 1_600
const isMissing = missing('python3-pocketsphinx', 'pocketsphinx-en-us', 'pocketsphinx-testdata') !== undefined

/** The decoders that this process has started. */
function decoders(): number[] {
  const lines = execFileSync('ps', ['-o', 'pid=,ppid=,stat=,args=', '-A'], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    const isOurs = Number(parent) === process.pid && command?.includes('decoders/pocketsphinx.py')
    return isOurs && !state?.startsWith('Z') ? [Number(pid)] : []
  })
}

describe.skipIf(isMissing)('speech that is streamed to pocketsphinx', () => {
  let service: CountersignService
  let server: Server
  let url: string
  let recording: Buffer
  let folder: TemporaryFolder

  beforeAll(async () => {
    folder = temporaryFolder()
    vi.stubEnv('TMPDIR', folder.path)
    recording = readFileSync(GO_FORWARD)
    service = await createService({
      dataDir: 'memory://',
      secret: SECRET,
      apiKey: API_KEY,
      delivery: 'inbox',
      transcriptionStreams: STREAMS,
      logger: () => {},
    })
    server = createServer(service.api)
    service.attach(server)
    url = `http://127.0.0.1:${await listenOnLoopback(server)}`
  })
  afterAll(async () => {
    service.closeStreams()
    await new Promise((resolve) => server.close(resolve))
    await service.close()
    await eventually(() => expect(decoders()).toEqual([]))
    expect(readdirSync(folder.path)).toEqual([])
    vi.unstubAllEnvs()
    folder.remove()
  })

  /** Sends the recording, a block for each 50 ms divided by `speed`. Returns how many partial pieces came before its end. */
  async function speak(stream: TestStream, speed: number): Promise<number> {
    await stream.until('ready')
    const start = performance.now()
    for (let at = 0; at < recording.length; at += BLOCK_BYTES) {
      stream.socket.send(recording.subarray(at, at + BLOCK_BYTES))
      const dueMs = (at + BLOCK_BYTES) / 32 / speed
      await wait(Math.max(0, start + dueMs - performance.now()))
    }
    const early = stream.texts('partial').length
    stream.end()
    return early
  }

  test('in real time gives partial text before the end, and then the exact words', async () => {
    const stream = openTestStream({ url })
    expect(await speak(stream, 1)).toBeGreaterThan(0)
    expect((await stream.closed).code).toBe(1000)
    expect(stream.texts('final')).toEqual([SAID])
    const final = stream.messages.find((message) => message.type === 'final')
    expect(final).toMatchObject({ start_ms: expect.any(Number), end_ms: expect.any(Number) })
  })

  test('ten times as fast, on 50 connections at once: as many as fit get every word, the others 503', async () => {
    const streams = Array.from({ length: 50 }, () => openTestStream({ url }))
    const outcomes = await Promise.all(
      streams.map(async (stream) => {
        const refused = await Promise.race([stream.refused, stream.until('ready').then(() => undefined)])
        if (refused) return refused.status
        await speak(stream, 10)
        expect((await stream.closed).code).toBe(1000)
        return stream.texts('final').join(' ')
      }),
    )
    expect(outcomes.filter((outcome) => outcome === SAID)).toHaveLength(STREAMS)
    expect(outcomes.filter((outcome) => outcome === 503)).toHaveLength(50 - STREAMS)
  })

  test('ends with an error and 1011 when the decoder is killed, and leaves nothing', async () => {
    const stream = openTestStream({ url })
    await stream.until('ready')
    stream.socket.send(recording.subarray(0, 32_000))
    for (const pid of decoders()) process.kill(pid, 'SIGKILL')
    expect(await stream.closed).toEqual({ code: 1011, reason: 'engine_failed' })
    expect(stream.messages.at(-1)).toMatchObject({ type: 'error', code: 'engine_failed' })
    expect(decoders()).toEqual([])
  })

  test('ends the decoder within a second after the client is gone', async () => {
    const stream = openTestStream({ url })
    await stream.until('ready')
    stream.socket.send(recording.subarray(0, 32_000))
    expect(decoders()).toHaveLength(1)
    stream.socket.terminate()
    const gone = performance.now()
    await eventually(() => expect(decoders()).toEqual([]))
    expect(performance.now() - gone).toBeLessThan(1_000)
  })

  test('is transcribed in the same process too', async () => {
    async function* audio() {
      for (let at = 0; at < recording.length; at += 5_001) yield recording.subarray(at, at + 5_001)
    }
    const texts: string[] = []
    for await (const piece of service.mfa.transcribeLive?.(audio()) ?? []) {
      if (piece.type === 'final') texts.push(piece.text)
    }
    expect(texts).toEqual([SAID])
  })
})
