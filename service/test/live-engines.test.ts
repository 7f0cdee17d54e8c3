import { once } from 'node:events'
import { createServer } from 'node:http'
import type { TranscriptPiece } from 'countersign/speech'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { everyCase } from '../../test/kit/every-case.js'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { readOptions } from '../src/run/options.js'
import { type LiveEngineChoice, parseLiveEngine } from '../src/transcription/engine-options.js'
import type { EngineError } from '../src/transcription/engines/transcriber.js'
import type { LiveTranscriber } from '../src/transcription/live/live-transcription.js'
import { livePocketsphinx, to24kHz } from '../src/transcription/live/pocketsphinx-live.js'
import { countStreams, createLiveEngine } from '../src/transcription/open-transcription.js'
import { rejection, SECRET } from './kit.js'

/** A WebSocket server that speaks as `talk` does. */
async function stub(
  talk: (socket: WebSocket, headers: NodeJS.Dict<string | string[]>) => void,
  status?: number,
) {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (status) return void socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\n\r\n`)
    sockets.handleUpgrade(request, socket, head, (webSocket) => talk(webSocket, request.headers))
  })
  const port = await listenOnLoopback(server)
  const close = async () => {
    for (const client of sockets.clients) client.terminate()
    await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(close)
  return { url: `ws://127.0.0.1:${port}`, close }
}

/** Opens a stream on an engine, and collects what it reports. */
async function open(engine: LiveTranscriber, language?: string) {
  const pieces: TranscriptPiece[] = []
  const failures: EngineError[] = []
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const stream = await engine.open({
    language,
    signal: controller.signal,
    onPiece: (piece) => void pieces.push(piece),
    onFailure: (error) => void failures.push(error),
  })
  return { stream, pieces, failures, controller }
}

function engineAt(option: string, key?: string): LiveTranscriber {
  const choice = parseLiveEngine(option)
  const engine = typeof choice === 'string' ? undefined : createLiveEngine(choice, key)
  if (!engine) throw new Error('no engine')
  return engine
}

const second = () => Buffer.alloc(32_000)

describe("a server with OpenAI's realtime API", () => {
  const say = (socket: WebSocket, ...events: object[]) => {
    for (const event of events) socket.send(JSON.stringify(event))
  }
  const TRANSCRIPTION = 'conversation.item.input_audio_transcription'

  test('receives the audio with 24 kHz in base64, and its deltas become partial pieces', async () => {
    const received: { type: string; audio?: string }[] = []
    let key: unknown
    const server = await stub((socket, headers) => {
      key = headers.authorization
      say(socket, { type: 'session.created' })
      socket.on('message', (data) => {
        const event = JSON.parse(String(data))
        received.push(event)
        if (event.type === 'session.update') say(socket, { type: 'session.updated' })
        if (event.type === 'input_audio_buffer.append') {
          const item = { item_id: 'one' }
          say(
            socket,
            { type: 'input_audio_buffer.speech_started', audio_start_ms: 100, ...item },
            { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 900, ...item },
            { type: 'input_audio_buffer.committed', ...item },
            { type: `${TRANSCRIPTION}.delta`, delta: 'go ', ...item },
            { type: `${TRANSCRIPTION}.delta`, delta: 'forward', ...item },
            { type: `${TRANSCRIPTION}.completed`, transcript: 'Go forward.', ...item },
          )
        }
        if (event.type === 'input_audio_buffer.commit') {
          const item = { item_id: 'two' }
          say(
            socket,
            { type: 'input_audio_buffer.committed', ...item },
            { type: `${TRANSCRIPTION}.completed`, transcript: 'Ten meters.', ...item },
          )
        }
      })
    })
    const option = `openai+${server.url}/v1/realtime?intent=transcription&model=gpt-4o-mini-transcribe`
    const { stream, pieces, failures } = await open(engineAt(option, 'sk-of-the-tests'), 'en')
    await stream.write(second())
    await stream.end()
    expect(key).toBe('Bearer sk-of-the-tests')
    expect(received[0]).toMatchObject({
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            transcription: { model: 'gpt-4o-mini-transcribe', language: 'en' },
          },
        },
      },
    })
    // The last samples wait for what they are interpolated with.
    expect(Buffer.from(received[1]?.audio ?? '', 'base64').length).toBeCloseTo(48_000, -1)
    expect(pieces).toEqual([
      { type: 'partial', text: 'go' },
      { type: 'partial', text: 'go forward' },
      { type: 'final', text: 'Go forward.', startMs: 100, endMs: 900 },
      { type: 'final', text: 'Ten meters.', startMs: 900, endMs: 1_000 },
    ])
    expect(failures).toEqual([])
  })

  test('that breaks off fails once, and ends what waits for it', () =>
    everyCase<[string, (socket: WebSocket) => void, string]>(
      [
        ['closes the connection', (socket) => socket.terminate(), 'engine_unavailable'],
        ['reports an error', (socket) => say(socket, { type: 'error', error: {} }), 'engine_failed'],
        ['sends more than 1 MB', (socket) => socket.send('x'.repeat(1024 * 1024 + 1)), 'engine_unavailable'],
      ],
      async ([_what, act, code]) => {
        const server = await stub((socket) => {
          socket.on('message', (data) => {
            if (String(data).includes('append')) act(socket)
          })
        })
        const { stream, failures } = await open(engineAt(`openai+${server.url}`))
        await stream.write(second())
        await expect.poll(() => failures.map((failure) => failure.code)).toEqual([code])
        await stream.write(second())
        await stream.end()
        expect(failures).toHaveLength(1)
      },
    ))

  test('that refuses the connection is unavailable or has failed, as its status says', () =>
    everyCase(
      [
        [401, 'engine_failed'],
        [404, 'engine_failed'],
        [429, 'engine_unavailable'],
        [503, 'engine_unavailable'],
      ],
      async ([status, code]) => {
        const server = await stub(() => {}, status)
        expect(await rejection(open(engineAt(`openai+${server.url}`)))).toMatchObject({ code })
      },
    ))

  test('that cannot be reached is unavailable, and is left when the stream is no longer needed', async () => {
    const gone = await stub(() => {})
    await gone.close()
    expect(await rejection(open(engineAt(`openai+${gone.url}`)))).toMatchObject({
      code: 'engine_unavailable',
    })
    let left: Promise<unknown> = Promise.resolve()
    const server = await stub((socket) => {
      left = once(socket, 'close')
    })
    const { controller, failures } = await open(engineAt(`openai+${server.url}`))
    controller.abort()
    await left
    expect(failures).toEqual([])
  })

  test('ends when nothing is left at the end, and when the server reports another error', () =>
    everyCase<[string, string, string[]]>(
      [
        ['nothing is left at the end', 'input_audio_buffer_commit_empty', []],
        ['it reports another error', 'invalid_api_key', ['engine_failed']],
      ],
      async ([_when, code, failed]) => {
        const server = await stub((socket) => {
          socket.on('message', (data) => {
            if (JSON.parse(String(data)).type === 'input_audio_buffer.commit')
              say(socket, { type: 'error', error: { code } })
          })
        })
        const { stream, failures } = await open(engineAt(`openai+${server.url}`))
        await stream.end()
        expect(failures.map((failure) => failure.code)).toEqual(failed)
      },
    ))

  test('that cannot transcribe a part, or closes the connection, has failed', async () => {
    const server = await stub((socket) => {
      socket.on('message', (data) => {
        const { type } = JSON.parse(String(data))
        if (type === 'input_audio_buffer.append')
          say(socket, { type: `${TRANSCRIPTION}.failed`, item_id: 'one' })
        if (type === 'input_audio_buffer.commit') socket.close()
      })
    })
    const failing = await open(engineAt(`openai+${server.url}`))
    await failing.stream.write(second())
    await expect.poll(() => failing.failures.map(({ code }) => code)).toEqual(['engine_failed'])
    const closing = await open(engineAt(`openai+${server.url}`))
    await closing.stream.end()
    expect(closing.failures.map(({ code }) => code)).toEqual(['engine_unavailable'])
  })
})

describe('resampling', () => {
  test('gives the same samples however the audio is cut, three for every two', () => {
    const samples = Int16Array.from({ length: 1_000 }, (_, i) => Math.round(20_000 * Math.sin(i / 9)))
    const pcm = Buffer.from(samples.buffer)
    const whole = to24kHz()(pcm)
    const resample = to24kHz()
    const cuts = [0, 2, 4, 10, 200, 202, 1_600, 2_000]
    const parts = cuts.slice(1).map((end, i) => resample(pcm.subarray(cuts[i], end)))
    expect(Buffer.concat(parts)).toEqual(whole)
    expect(whole.length).toBeCloseTo(3_000, -1)
    const errors = Array.from({ length: whole.length / 2 }, (_, i) =>
      Math.abs(whole.readInt16LE(2 * i) - 20_000 * Math.sin((i * 2) / 3 / 9)),
    )
    expect(Math.max(...errors)).toBeLessThan(100)
  })
})

describe('a decoder on this machine', () => {
  test('that cannot decode is not ready', () =>
    everyCase(
      [
        ['does not exist', ['/nowhere/python3'], 'could not be started'],
        ['ends at once', [process.execPath, '-e', 'process.exit(3)'], 'ended with status 3'],
        ['is killed', [process.execPath, '-e', 'process.kill(process.pid, "SIGKILL")'], 'ended with SIGKILL'],
      ] as const,
      async ([_what, command, message]) => {
        const error = await rejection(open(livePocketsphinx([...command] as [string, ...string[]])))
        expect(error).toMatchObject({ code: 'engine_failed', message: expect.stringContaining(message) })
      },
    ))

  test('that prints other lines and ends midway has failed once', async () => {
    const script = `console.log('leaked'); console.log('{"type":"ready"}'); process.stdin.once('data', () => {
      console.log('{"type":"partial","text":"go"}'); setTimeout(() => process.exit(1), 50) })`
    const { stream, pieces, failures } = await open(livePocketsphinx([process.execPath, '-e', script]))
    await stream.write(second())
    await stream.end()
    await stream.write(second())
    expect(pieces).toEqual([{ type: 'partial', text: 'go' }])
    expect(failures).toMatchObject([{ code: 'engine_failed' }])
  })
})

describe('the option liveTranscriber', () => {
  const OWN: LiveTranscriber = { name: 'own', open: () => Promise.reject(new Error('closed')) }

  test('accepts every form', () =>
    everyCase<[string | LiveTranscriber, LiveEngineChoice]>(
      [
        ['auto', { by: 'auto' }],
        ['off', { by: 'off' }],
        ['pocketsphinx', { by: 'pocketsphinx' }],
        [
          'openai+wss://api.example/v1/realtime?intent=transcription&model=whisper-1',
          { by: 'openai', url: 'wss://api.example/v1/realtime?intent=transcription', model: 'whisper-1' },
        ],
        [OWN, { by: 'object', engine: OWN }],
        [
          'openai+wss://api.example/',
          { by: 'openai', url: 'wss://api.example/', model: 'gpt-4o-transcribe' },
        ],
      ],
      ([text, choice]) => {
        expect(parseLiveEngine(text)).toEqual(choice)
      },
    ))

  test('refuses anything else', () =>
    everyCase(
      [
        ['', 'must be auto, off'],
        ['ws://127.0.0.1:2700', 'must be auto, off'],
        ['openai+http://127.0.0.1', 'must be auto, off'],
        ['openai+ws://user:key@127.0.0.1', 'set the key in liveTranscriberKey'],
      ],
      ([liveTranscriber, fault]) => {
        expect(() => readOptions({ secret: SECRET, delivery: 'inbox', liveTranscriber })).toThrow(fault)
      },
    ))

  test('sets the number of streams', () => {
    expect(countStreams({ by: 'openai', url: 'ws://x', model: 'x' })).toBe(64)
    expect(countStreams({ by: 'auto' })).toBeGreaterThanOrEqual(2)
    const options = { secret: SECRET, delivery: 'inbox' }
    expect(readOptions({ ...options, transcriptionStreams: 50 }).transcriptionStreams).toBe(50)
    expect(() => readOptions({ ...options, transcriptionStreams: 0 })).toThrow('from 1 to 10000')
  })
})
