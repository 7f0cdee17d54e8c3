import { once } from 'node:events'
import { connect } from 'node:net'
import { TranscriptionError } from 'countersign/speech'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { deleteExpired } from '../src/operator/retention.js'
import { EngineError } from '../src/transcription/engines/transcriber.js'
import type { LiveTranscriber } from '../src/transcription/live/live-transcription.js'
import { API_KEY, advance, type Bench, eventually, openBench, stopClock } from './kit.js'
import type { StreamTarget } from './stream-client.js'
import { fakeEngine, serveStreams } from './stream-service.js'

let bench: Bench
const serve = (engine: LiveTranscriber | undefined, more = {}) => serveStreams(bench, engine, more)
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

describe('a stream', () => {
  test('is ready, sends partial pieces while audio arrives and final ones with times, and closes with 1000', async () => {
    const { engine, opened } = fakeEngine()
    const { open, events } = await serve(engine)
    const stream = open({ query: { language: 'pt-BR' } })
    await stream.until('ready')
    expect(stream.socket.protocol).toBe('transcribe.v1')
    expect(stream.socket.extensions).toBe('')
    stream.socket.send(Buffer.alloc(640))
    await stream.until('partial')
    stream.socket.send(Buffer.alloc(320))
    stream.end()
    expect(await stream.closed).toEqual({ code: 1000, reason: '' })
    expect(stream.messages).toEqual([
      { type: 'ready', sample_rate: 16_000 },
      { type: 'partial', text: '640 bytes' },
      { type: 'partial', text: '960 bytes' },
      { type: 'final', text: '960 bytes', start_ms: 0, end_ms: 30 },
    ])
    expect(opened.map(({ language, signal }) => [language, signal.aborted])).toEqual([['pt-BR', true]])
    const about = { level: 'info', application: expect.any(String), request: expect.any(String) }
    expect(events).toEqual([
      { ...about, event: 'stream.opened', detail: 'fake' },
      {
        ...about,
        event: 'http.request',
        key: 'key-of-tests',
        client: '127.0.0.1',
        method: 'GET',
        route: '/v1/transcribe/stream',
        status: 101,
        ms: expect.any(Number),
      },
      { ...about, event: 'stream.closed', seconds: 0.03, ms: expect.any(Number) },
    ])
  })

  test('can be a frame of 64 KB, but no larger one', async () => {
    const { engine, heard, opened } = fakeEngine()
    const { open } = await serve(engine)
    const stream = open()
    await stream.until('ready')
    stream.socket.send(Buffer.alloc(65_536))
    await stream.until('partial')
    stream.socket.send(Buffer.alloc(65_538))
    expect((await stream.closed).code).toBe(1009)
    expect(heard).toEqual([65_536])
    await eventually(() => expect(opened[0]?.signal.aborted).toBe(true))
  })

  test.each<[string, string | Buffer]>([
    ['text that is no JSON', 'go forward'],
    ['another message', '{"type":"start"}'],
    ['base64 instead of binary audio', '{"type":"audio","data":"AAAA"}'],
    ['half a sample', Buffer.alloc(3)],
  ])('is refused with 1008 after %s', async (_what, sent) => {
    const { engine, opened, heard } = fakeEngine()
    const { open } = await serve(engine)
    const stream = open()
    await stream.until('ready')
    stream.socket.send(sent)
    expect(await stream.closed).toEqual({ code: 1008, reason: 'invalid_message' })
    expect(stream.messages.at(-1)).toMatchObject({ type: 'error', code: 'invalid_message' })
    expect([heard, opened[0]?.signal.aborted]).toEqual([[], true])
  })

  test('is refused with 1008 after audio that follows the end', async () => {
    const { engine } = fakeEngine(() => new Promise(() => {}))
    const { open } = await serve(engine)
    const stream = open()
    await stream.until('ready')
    stream.end()
    stream.socket.send(Buffer.alloc(2))
    // Either the end or the audio after it is handled first.
    expect([1000, 1008]).toContain((await stream.closed).code)
  })

  test('ends with 1008 when neither audio nor a keep-alive arrives', async () => {
    const { open } = await serve(fakeEngine().engine, { idleMs: 200 })
    const silent = open()
    expect(await silent.closed).toEqual({ code: 1008, reason: 'idle' })
    expect(silent.messages.at(-1)).toMatchObject({ type: 'error', code: 'idle' })

    const kept = open()
    await kept.until('ready')
    const keepAlive = setInterval(() => kept.socket.send('{"type":"keepalive"}'), 20)
    await open().closed
    clearInterval(keepAlive)
    expect(kept.socket.readyState).toBe(kept.socket.OPEN)
    kept.end()
    expect((await kept.closed).code).toBe(1000)
  })

  test('ends with 1008 after ten minutes of audio', async () => {
    const { open } = await serve(fakeEngine().engine)
    const stream = open()
    await stream.until('ready')
    const block = Buffer.alloc(64_000)
    for (let seconds = 0; seconds < 602; seconds += 2) stream.socket.send(block)
    expect(await stream.closed).toEqual({ code: 1008, reason: 'stream_too_long' })
  })

  test('ends with 1011 when the engine fails, and says so', async () => {
    const failing = fakeEngine((request) => {
      request.onFailure(new EngineError('engine_failed', 'the model of /srv is broken'))
    })
    const { open, events } = await serve(failing.engine)
    const stream = open()
    await stream.until('ready')
    stream.socket.send(Buffer.alloc(2))
    expect(await stream.closed).toEqual({ code: 1011, reason: 'engine_failed' })
    expect(stream.messages.at(-1)).toMatchObject({ type: 'error', code: 'engine_failed' })
    expect(JSON.stringify(stream.messages)).not.toContain('/srv')
    expect(events.find(({ event }) => event === 'stream.failed')?.detail).toContain('/srv')

    const unready: LiveTranscriber = {
      name: 'unready',
      open: () => Promise.reject(new EngineError('engine_unavailable', 'down')),
    }
    const other = (await serve(unready)).open()
    expect(await other.closed).toEqual({ code: 1011, reason: 'engine_unavailable' })
    expect(other.messages).toMatchObject([{ type: 'error', code: 'engine_unavailable' }])
  })

  test('frees the engine as soon as the client is gone', async () => {
    const { engine, opened } = fakeEngine()
    const { open } = await serve(engine, { maxStreams: 1 })
    const stream = open()
    await stream.until('ready')
    stream.socket.terminate()
    await eventually(() => expect(opened[0]?.signal.aborted).toBe(true))
    const next = open()
    await next.until('ready')
    next.socket.close()
    await eventually(() => expect(opened[1]?.signal.aborted).toBe(true))
  })

  test('ends with 1013 when the service closes, and no other begins', async () => {
    const { open, live, stop } = await serve(fakeEngine().engine)
    const stream = open()
    await stream.until('ready')
    stop()
    expect(await open().refused).toMatchObject({ status: 503, body: { code: 'too_many_streams' } })
    live.close()
    expect(await stream.closed).toEqual({ code: 1013, reason: 'unavailable' })
  })

  test('is read no faster than the engine takes it', async () => {
    let proceed = () => {}
    const slow = fakeEngine(
      () =>
        new Promise((resolve) => {
          proceed = resolve
        }),
    )
    const { open } = await serve(slow.engine)
    const stream = open()
    await stream.until('ready')
    const block = Buffer.alloc(65_536)
    for (let i = 0; i < 200; i++) stream.socket.send(block)
    await eventually(() => expect(slow.heard.length).toBe(1))
    // The rest waits in the buffers of the system and of the client.
    expect(stream.socket.bufferedAmount).toBeGreaterThan(1_000_000)
    const drain = setInterval(() => proceed(), 0)
    onTestFinished(() => clearInterval(drain))
    stream.end()
    expect((await stream.closed).code).toBe(1000)
    expect(slow.heard.length).toBe(200)
    expect(stream.texts('final')).toEqual([`${200 * 65_536} bytes`])
  })

  test('of a client that does not read leaves out partial pieces, and is cut before it takes much memory', async () => {
    const talkative = fakeEngine(async (request) => {
      for (let i = 0; i < 100 && !request.signal.aborted; i++) {
        request.onPiece({ type: 'partial', text: 'p'.repeat(50_000) })
      }
      request.onPiece({ type: 'final', text: 'f'.repeat(100_000), startMs: 0, endMs: 0 })
    })
    const { open, events } = await serve(talkative.engine)
    const stream = open()
    await stream.until('ready')
    stream.socket.pause()
    const send = setInterval(() => stream.socket.send(Buffer.alloc(2)), 1)
    onTestFinished(() => clearInterval(send))
    await eventually(() => expect(events.map(({ event }) => event)).toContain('stream.closed'))
    clearInterval(send)
    stream.socket.resume()
    expect((await stream.closed).code).toBe(1006)
  })
})

describe('a stream is refused before the connection becomes a WebSocket', () => {
  test('without a valid key, subprotocol, language or ticket', async () => {
    const { engine, opened } = fakeEngine()
    const { open } = await serve(engine)
    const attempts: [Omit<StreamTarget, 'url'>, number, string][] = [
      [{ headers: {} }, 401, 'invalid_api_key'],
      [{ headers: { authorization: 'Bearer of_somewhere_else' } }, 401, 'invalid_api_key'],
      [{ query: { api_key: API_KEY }, headers: {} }, 401, 'invalid_api_key'],
      [{ query: { ticket: 'unknown' } }, 401, 'invalid_ticket'],
      [{ protocols: [] }, 400, 'invalid_request'],
      [{ protocols: ['transcribe.v2', 'chat'] }, 400, 'invalid_request'],
      [{ query: { language: 'en; rm' } }, 400, 'invalid_request'],
    ]
    for (const [target, status, code] of attempts) {
      const requestId = expect.stringMatching(/^[\da-f-]{36}$/)
      expect(await open(target).refused).toMatchObject({ status, body: { code }, requestId })
    }
    expect(opened).toEqual([])
    const first = open({ protocols: ['other', 'transcribe.v1'] })
    await first.until('ready')
    expect(first.socket.protocol).toBe('transcribe.v1')
  })

  test('beyond the maximum, with 503 and Retry-After, until a stream ends', async () => {
    const { open } = await serve(fakeEngine().engine, { maxStreams: 2 })
    const streams = [open(), open()]
    await Promise.all(streams.map((stream) => stream.until('ready')))
    const refused = await open().refused
    expect(refused).toMatchObject({ status: 503, retryAfter: '10', body: { code: 'too_many_streams' } })
    streams[0]?.end()
    await streams[0]?.closed
    await open().until('ready')
  })

  test('by a service without an engine for streams, with 501 and how to get one', async () => {
    const { open, ticket, mfa } = await serve(undefined)
    const detail = expect.stringMatching(/python3-pocketsphinx.*SERVICE_LIVE_TRANSCRIBER.*openai\+wss/)
    const unavailable = { code: 'transcription_unavailable', detail }
    expect(await open().refused).toMatchObject({ status: 501, body: unavailable })
    expect(await ticket()).toMatchObject({ status: 501, body: unavailable })
    const refusal = { code: 'ERR_MFA_TRANSCRIPTION', reason: 'transcription_unavailable', status: 501 }
    await expect(mfa.createStreamTicket?.()).rejects.toMatchObject(refusal)
    const pieces = mfa.transcribeLive?.(audioOf([]))
    await expect(pieces?.[Symbol.asyncIterator]().next()).rejects.toMatchObject(refusal)
  })

  test('on another path, and leaves other upgrades and other listeners alone', async () => {
    const { open, port, server } = await serve(fakeEngine().engine)
    expect(await open({ path: '/v1/other' }).refused).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
      requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    })
    // Java's HTTP client offers HTTP/2 with every request over plain HTTP.
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    const body = 'User=x'
    socket.write(
      `POST /v1/mfa HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nContent-Type: application/x-www-form-urlencoded\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 400.*"field":"Type"/s)
    socket.destroy()

    server.on('upgrade', (request, own) => {
      if (request.url === '/mine') own.end('HTTP/1.1 299 Mine\r\nConnection: close\r\n\r\n')
    })
    expect((await open({ path: '/mine' }).refused).status).toBe(299)
  })

  test('without the header of the WebSocket protocol, and frees its place', async () => {
    const { open, port } = await serve(fakeEngine().engine, { maxStreams: 1 })
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `GET /v1/transcribe/stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: transcribe.v1\r\nX-Request-Id: mine\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`,
    )
    const response = String((await once(socket, 'data'))[0])
    expect(response).toMatch(/^HTTP\/1\.1 400.*\r\nX-Request-Id: mine\r\n.*"field":"handshake"/s)
    expect(response).toContain('Sec-WebSocket-Version: 13')
    socket.destroy()
    await open().until('ready')
  })
})

describe('a ticket', () => {
  test('opens one stream without the key, even if two requests use it at once', async () => {
    const { open, ticket, events } = await serve(fakeEngine().engine)
    const { status, body } = await ticket()
    expect([status, body]).toEqual([200, { ticket: expect.stringMatching(/^[\w-]{43}$/), expires_in: 60 }])
    const both = [1, 2].map(() => open({ headers: {}, query: { ticket: body.ticket } }))
    await eventually(() => expect(both.map(({ messages }) => messages.length).sort()).toEqual([0, 1]))
    const late = await open({ headers: {}, query: { ticket: body.ticket } }).refused
    expect(late).toMatchObject({ status: 401, body: { code: 'invalid_ticket' } })
    expect(JSON.stringify(events)).not.toContain(body.ticket)
    const stored = await bench.store.query('SELECT * FROM stream_ticket')
    expect(JSON.stringify(stored)).not.toContain(body.ticket)
  })

  test('requires the key, and is valid for 60 seconds', async () => {
    const { url, open, ticket, mfa } = await serve(fakeEngine().engine)
    const refused = await fetch(`${url}/v1/transcribe/tickets`, { method: 'POST' })
    expect([refused.status, (await refused.json()).code]).toEqual([401, 'invalid_api_key'])
    stopClock()
    onTestFinished(() => void vi.useRealTimers())
    const [early, late] = [await ticket(), await mfa.createStreamTicket?.()]
    expect(late?.expiresInSeconds).toBe(60)
    advance(59)
    await open({ headers: {}, query: { ticket: early.body.ticket } }).until('ready')
    advance(1)
    const expired = await open({ headers: {}, query: { ticket: late?.ticket ?? '' } }).refused
    expect(expired.status).toBe(401)
    expect((await deleteExpired(bench.store)).stream_ticket).toBe(1)
  })
})

async function* audioOf(chunks: readonly Uint8Array[]) {
  yield* chunks
}

describe('a stream in the same process', () => {
  test('yields the pieces, whatever the length of the chunks', async () => {
    const { engine, heard } = fakeEngine()
    const { mfa } = await serve(engine)
    const texts: string[] = []
    const audio = audioOf([Buffer.alloc(3), Buffer.alloc(70_000), Buffer.alloc(1)])
    for await (const piece of mfa.transcribeLive?.(audio, { language: 'en' }) ?? []) texts.push(piece.text)
    expect(heard).toEqual([2, 65_536, 4_464, 2])
    expect(texts.at(-1)).toBe('70004 bytes')
  })

  test('ends with the reader, with the signal, and with the error of the source or the engine', async () => {
    const failing = fakeEngine((request, bytes) => {
      if (bytes > 4) request.onFailure(new EngineError('engine_unavailable', 'down'))
    })
    const { mfa, live } = await serve(failing.engine, { maxStreams: 1 })
    let isReturned = false
    async function* endless() {
      try {
        for (;;) {
          yield Buffer.alloc(2)
          await new Promise((resolve) => setImmediate(resolve))
        }
      } finally {
        isReturned = true
      }
    }
    for await (const _piece of mfa.transcribeLive?.(endless()) ?? []) break
    await eventually(() => expect([isReturned, failing.opened[0]?.signal.aborted]).toEqual([true, true]))

    const run = async (audio: AsyncIterable<Uint8Array>, signal?: AbortSignal) => {
      for await (const piece of mfa.transcribeLive?.(audio, { signal }) ?? []) void piece
    }
    await expect(run(endless())).rejects.toMatchObject({ reason: 'engine_unavailable', status: 503 })
    const stop = new AbortController()
    async function* quiet() {
      stop.abort(new Error('enough'))
      await new Promise(() => {})
      yield Buffer.alloc(2)
    }
    await expect(run(quiet(), stop.signal)).rejects.toThrow('enough')
    async function* broken() {
      yield Buffer.alloc(2)
      throw new Error('microphone unplugged')
    }
    await expect(run(broken())).rejects.toThrow('microphone unplugged')
    const place = live.reserve('x')
    const busy = await run(audioOf([])).catch((error: unknown) => error)
    expect(busy).toBeInstanceOf(TranscriptionError)
    expect(busy).toMatchObject({ reason: 'busy', retryAfterSeconds: 10 })
    place?.release()
  })
})
