import { readFile } from 'node:fs/promises'
import { mfaClient, OptionsError, ServiceError } from 'countersign'
import { createSpeechClient, TranscriptionError } from 'countersign/speech'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { missing } from '../../test/kit/debian-packages.js'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { EngineError } from '../src/transcription/engines/transcriber.js'
import type { LiveTranscriber } from '../src/transcription/live/live-transcription.js'
import { API_KEY, type Bench, eventually, openBench } from './kit.js'
import { ffmpeg } from './recordings.js'
import { fakeEngine, serveStreams } from './stream-service.js'

let bench: Bench
let folder: TemporaryFolder
beforeAll(async () => {
  bench = await openBench()
  folder = temporaryFolder()
})
afterAll(async () => {
  await bench.close()
  folder.remove()
})

/** A client of a service with this engine. */
async function clientOf(engine: LiveTranscriber | undefined, apiKey = API_KEY, maxStreams = 2) {
  const service = await serveStreams(bench, engine, { maxStreams })
  const client = createSpeechClient({ baseUrl: service.url, apiKey })
  onTestFinished(() => client.close())
  return { service, client }
}

async function* audioOf(...chunks: readonly Uint8Array[]) {
  yield* chunks
}

async function* endless() {
  for (;;) {
    yield Buffer.alloc(640)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function failureOf(pieces: AsyncIterable<unknown>): Promise<Error> {
  try {
    for await (const piece of pieces) void piece
  } catch (error) {
    return error as Error
  }
  throw new Error('The stream did not fail.')
}

describe('transcribeLive of the client', () => {
  test('yields partial and final pieces of audio in chunks of any length', async () => {
    const { engine, opened, heard } = fakeEngine()
    const { client } = await clientOf(engine)
    const pieces: unknown[] = []
    const audio = audioOf(Buffer.alloc(3), Buffer.alloc(100_000), Buffer.alloc(1))
    for await (const piece of client.transcribeLive(audio, { language: 'en' })) pieces.push(piece)
    expect(pieces.at(-1)).toEqual({ type: 'final', text: '100004 bytes', startMs: 0, endMs: 3_125 })
    expect(heard.reduce((sum, bytes) => sum + bytes, 0)).toBe(100_004)
    expect(opened[0]?.language).toBe('en')
  })

  test('keeps every byte when the engine is slower than the source', async () => {
    const { engine, heard } = fakeEngine(() => new Promise((resolve) => setTimeout(resolve, 2)))
    const { client } = await clientOf(engine)
    let given = 0
    async function* source() {
      for (let i = 0; i < 100; i++) {
        given += 64_000
        yield Buffer.alloc(64_000)
      }
    }
    const texts: string[] = []
    for await (const piece of client.transcribeLive(source())) texts.push(piece.text)
    expect(texts.at(-1)).toBe(`${given} bytes`)
    expect(heard.length).toBeGreaterThanOrEqual(100)
  })

  test('fails with a reason when the service refuses the stream', async () => {
    const none = await clientOf(undefined)
    expect(await failureOf(none.client.transcribeLive(audioOf()))).toMatchObject({
      reason: 'transcription_unavailable',
      status: 501,
    })
    await expect(none.client.createStreamTicket()).rejects.toMatchObject({
      reason: 'transcription_unavailable',
    })
    const stranger = await clientOf(fakeEngine().engine, 'a_key_of_another_service')
    expect(await failureOf(stranger.client.transcribeLive(audioOf()))).toMatchObject({
      code: 'ERR_MFA_SERVICE_KEY',
    })
    const { client, service } = await clientOf(fakeEngine().engine, API_KEY, 1)
    const other = service.open()
    await other.until('ready')
    const busy = await failureOf(client.transcribeLive(audioOf()))
    expect(busy).toBeInstanceOf(TranscriptionError)
    expect(busy).toMatchObject({
      code: 'ERR_MFA_TRANSCRIPTION',
      reason: 'busy',
      retryAfterSeconds: 10,
      status: 503,
    })
    const invalid = await failureOf(client.transcribeLive(audioOf(), { language: 'no language' }))
    expect(invalid).toMatchObject({ code: 'ERR_MFA_SERVICE_REQUEST' })
  })

  test('fails with a reason when the stream ends early', async () => {
    const broken = fakeEngine((request) => request.onFailure(new EngineError('engine_failed', 'broken')))
    const failing = await clientOf(broken.engine)
    expect(await failureOf(failing.client.transcribeLive(endless()))).toMatchObject({
      reason: 'engine_failed',
    })
    const { client, service } = await clientOf(fakeEngine().engine)
    const closing = failureOf(client.transcribeLive(endless()))
    await eventually(() => expect(service.events.map(({ event }) => event)).toContain('stream.opened'))
    service.live.close()
    expect(await closing).toMatchObject({ reason: 'unavailable' })
  })

  test('says that the connection was lost, or that the service is gone', async () => {
    const { client, service } = await clientOf(fakeEngine().engine)
    const sockets = new Set<{ destroy(): void }>()
    service.server.on('upgrade', (_request, socket) => void sockets.add(socket))
    const lost = failureOf(client.transcribeLive(endless()))
    await eventually(() => expect(service.events.map(({ event }) => event)).toContain('stream.opened'))
    for (const socket of sockets) socket.destroy()
    expect(await lost).toMatchObject({ reason: 'connection_lost' })
    // The API of the service is known by now.
    await new Promise((resolve) => {
      service.server.close(resolve)
      service.server.closeAllConnections()
    })
    const gone = await failureOf(client.transcribeLive(audioOf()))
    expect(gone).toBeInstanceOf(ServiceError)
    expect(gone).toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE' })
  })

  test('ends with its reader, its signal and its source', async () => {
    const { engine, opened } = fakeEngine()
    const { client } = await clientOf(engine)
    for await (const _piece of client.transcribeLive(endless())) break
    await eventually(() => expect(opened.map(({ signal }) => signal.aborted)).toEqual([true]))
    const stop = new AbortController()
    const aborted = failureOf(client.transcribeLive(endless(), { signal: stop.signal }))
    await eventually(() => expect(opened).toHaveLength(2))
    stop.abort(new Error('enough'))
    expect((await aborted).message).toBe('enough')
    async function* broken() {
      yield Buffer.alloc(2)
      throw new Error('microphone unplugged')
    }
    expect((await failureOf(client.transcribeLive(broken()))).message).toBe('microphone unplugged')
    await eventually(() => expect(opened.map(({ signal }) => signal.aborted)).toEqual([true, true, true]))
  })

  test('issues a ticket for a browser', async () => {
    const { client, service } = await clientOf(fakeEngine().engine)
    const { ticket, expiresInSeconds } = await client.createStreamTicket()
    expect(expiresInSeconds).toBe(60)
    await service.open({ headers: {}, query: { ticket } }).until('ready')
  })

  test('needs the Countersign service', async () => {
    const { service } = await clientOf(fakeEngine().engine)
    const client = createSpeechClient({ baseUrl: service.url, apiKey: API_KEY, dialect: 'published' })
    onTestFinished(() => client.close())
    expect(await failureOf(client.transcribeLive(audioOf()))).toMatchObject({
      reason: 'transcription_unavailable',
    })
  })
})

describe.skipIf(missing('ffmpeg') !== undefined)('audio in any format', () => {
  test('is converted on the machine of the caller', async () => {
    const path = `${folder.path}/tone.mp3`
    await ffmpeg('-f', 'lavfi', '-i', 'sine=frequency=300:sample_rate=44100:duration=2', '-ac', '2', path)
    const { engine, heard } = fakeEngine()
    const { client } = await clientOf(engine)
    const audio = audioOf(await readFile(path))
    for await (const piece of client.transcribeLive(audio, { format: 'any' })) void piece
    expect(heard.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(60_000)
  })

  test('that ffmpeg cannot decode is an error, and so is an error of the source', async () => {
    const { client } = await clientOf(fakeEngine().engine)
    const noise = client.transcribeLive(audioOf(Buffer.from('no audio at all')), { format: 'any' })
    expect(await failureOf(noise)).toMatchObject({ reason: 'unsupported_media', status: 422 })
    async function* broken() {
      yield Buffer.from('RIFF')
      throw new Error('disk full')
    }
    expect((await failureOf(client.transcribeLive(broken(), { format: 'any' }))).message).toBe('disk full')
  })
})

describe('the client', () => {
  test('returns only the text of a recording, or throws why there is none', async () => {
    const { client } = await clientOf(undefined)
    const refused = client.transcribeText({ file: 'https://media.example/a.mp3' })
    await expect(refused).rejects.toMatchObject({ reason: 'transcription_unavailable', status: 501 })
  })

  test('converts phone numbers to E.164 as people write them', async () => {
    const { service } = await clientOf(undefined)
    const client = mfaClient({ baseUrl: service.url, apiKey: API_KEY }, { country: 'GB' })
    onTestFinished(() => client.close())
    for (const phone of ['+44 7700 900123', '07700 900123', '(07700) 900-123', '+447700900123']) {
      const answer = await client.verify({
        method: 'sms',
        contact: { kind: 'phone', phone },
        code: '123456',
        kind: 'code',
      })
      expect(answer).toEqual({ outcome: 'invalid' })
    }
    const verify = (phone: string) =>
      client.verify({ method: 'sms', contact: { kind: 'phone', phone }, code: '123456', kind: 'code' })
    const error = await verify('0770').catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(OptionsError)
    expect(String(error)).toContain('is not valid')
    expect(String(error)).not.toContain('0770 ')
  })
})
