import { once } from 'node:events'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createService } from '@countersign/service'
import { Busboy } from '@fastify/busboy'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { PATIENCE_MS } from '../../test/kit/patience.js'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { ConfigurationError } from '../src/process/configuration-error.js'
import { readEnvironment } from '../src/run/environment.js'
import { readOptions } from '../src/run/options.js'
import { startWarnings } from '../src/run/start-warnings.js'
import { type Engine, parseEngine } from '../src/transcription/engine-options.js'
import { openAiTranscriber } from '../src/transcription/engines/openai-transcriber.js'
import type { Transcriber } from '../src/transcription/engines/transcriber.js'
import {
  commandTranscriber,
  createTranscriber,
  getConcurrency,
} from '../src/transcription/open-transcription.js'
import { eventually, listen, rejection, SECRET } from './kit.js'
import { hasRealEngine } from './recordings.js'

const SOUND = 'RIFF….WAVE speech'
let folder: TemporaryFolder
let path: string

beforeAll(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'a recording.wav')
  await writeFile(path, SOUND)
})
afterAll(() => folder.remove())

const UPLOAD = { format: 'wav', maxBytes: 25 * 1024 * 1024 } as const
const recording = (signal = new AbortController().signal) => ({ path, durationSeconds: 1, signal })

interface Asked {
  readonly path: string
  readonly key: string | undefined
  readonly fields: Record<string, string>
  readonly file: { readonly name: string; readonly type: string; readonly text: string }
}

/** A server with the API of OpenAI that records its requests. */
async function openAiServer(
  status: number | ((fields: Readonly<Record<string, string>>) => number),
  answer: unknown,
  headers = {},
) {
  const asked: Asked[] = []
  const server = await listen((request, response) => {
    const fields: Record<string, string> = {}
    let file = { name: '', type: '', text: '' }
    const form = new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
    })
    form.on('field', (name, value) => {
      fields[name] = value
    })
    form.on('file', (field, stream, name, _encoding, type) => {
      let text = ''
      stream.on('data', (chunk) => {
        text += chunk
      })
      stream.on('end', () => {
        file = { name: `${field} ${name}`, type, text }
      })
    })
    form.on('finish', () => {
      asked.push({ path: request.url ?? '', key: request.headers.authorization, fields, file })
      response
        .writeHead(typeof status === 'number' ? status : status(fields), {
          'content-type': 'application/json',
          ...headers,
        })
        .end(JSON.stringify(answer))
    })
    request.pipe(form)
  })
  onTestFinished(() => server.close())
  return { url: server.url, asked }
}

function chosen(text: string, apiKey?: string) {
  const engine = parseEngine(text)
  if (typeof engine === 'string' || engine.by !== 'server') throw new Error('no server')
  return openAiTranscriber({ ...engine, apiKey })
}

describe('a server with the API of OpenAI', () => {
  test('receives the recording as a WAV file with the model and the key', async () => {
    const server = await openAiServer(200, { text: ' go forward ten meters\n', language: 'english' })
    const transcript = await chosen(server.url, 'sk-of-the-tests').transcribe(recording())
    expect(transcript).toEqual({ text: 'go forward ten meters', language: 'english' })
    expect(server.asked).toEqual([
      {
        path: '/v1/audio/transcriptions',
        key: 'Bearer sk-of-the-tests',
        fields: { model: 'whisper-1', response_format: 'json' },
        file: { name: 'file recording.wav', type: 'audio/wav', text: SOUND },
      },
    ])
  })

  test('receives the language without its region, and the prompt, instead of its own fields', async () => {
    const server = await openAiServer(200, { text: 'ir adelante' })
    const transcriber = chosen(`${server.url}?language=en`)
    await transcriber.transcribe({ ...recording(), language: 'es-MX', prompt: 'Countersign, TOTP' })
    expect(server.asked).toMatchObject([{ fields: { language: 'es', prompt: 'Countersign, TOTP' } }])
  })

  test('can have another path and other fields, and no key', async () => {
    const server = await openAiServer(200, { text: '' })
    const transcript = await chosen(`${server.url}/inference?model=base.en&temperature=0`).transcribe(
      recording(),
    )
    expect(transcript).toEqual({ text: '' })
    expect(server.asked).toMatchObject([
      {
        path: '/inference',
        key: undefined,
        fields: { model: 'base.en', temperature: '0', response_format: 'json' },
      },
    ])
  })

  test('is asked for times only if the format needs them, and they are read from segments or beside them', async () => {
    const times = { start: 0.5, end: 2 }
    const said = { text: ' go ', segments: [{ id: 0, seek: 0, text: ' go ', ...times }], words: null }
    const inSegments = { ...said, segments: [{ ...said.segments[0], words: [{ word: ' go', ...times }] }] }
    const expected = {
      text: 'go',
      segments: [{ text: 'go', startSeconds: 0.5, endSeconds: 2 }],
      words: [{ word: 'go', startSeconds: 0.5, endSeconds: 2 }],
    }
    for (const body of [inSegments, { ...said, words: [{ word: 'go', ...times }] }]) {
      const server = await openAiServer(200, body)
      expect(await chosen(server.url).transcribe({ ...recording(), withTimes: true })).toEqual(expected)
      expect(server.asked).toMatchObject([
        { fields: { response_format: 'verbose_json', 'timestamp_granularities[]': 'word' } },
      ])
    }
    const server = await openAiServer(200, { text: 'go', segments: [], words: [] })
    expect(await chosen(server.url).transcribe({ ...recording(), withTimes: true })).toEqual({
      text: 'go',
      segments: [],
    })
  })

  test('whose model has no times is asked again without them', async () => {
    const server = await openAiServer((fields) => (fields.response_format === 'json' ? 200 : 400), {
      text: 'go',
    })
    const model = chosen(`${server.url}?model=gpt-4o-transcribe`)
    expect(await model.transcribe({ ...recording(), withTimes: true })).toEqual({ text: 'go' })
    expect(server.asked.map(({ fields }) => fields.response_format)).toEqual(['verbose_json', 'json'])
    const broken = await openAiServer(400, {})
    const failure = await rejection(chosen(broken.url).transcribe({ ...recording(), withTimes: true }))
    expect(failure).toMatchObject({ code: 'engine_failed' })
  })

  const ask = (url: string, signal?: AbortSignal) =>
    rejection(chosen(url, 'sk-of-the-tests').transcribe(recording(signal)))
  const failed = { code: 'engine_failed', retryAfterSeconds: 60 }

  test('that responds with an error has failed', () =>
    everyCase(
      [
        [401, { error: 'the key sk-of-the-tests is wrong' }, 'The transcription server responded with 401.'],
        [403, { error: { message: 'sk-…ests may not' } }, 'The transcription server responded with 403.'],
        [404, {}, 'The transcription server responded with 404.'],
        [404, { error: { message: 'No\nmodel' } }, 'The transcription server responded with 404: No model'],
        [413, { error: 'too  large' }, 'The transcription server responded with 413: too large'],
        [400, { error: null, detail: 'no file' }, 'The transcription server responded with 400: no file'],
        [400, { detail: [{ input: 'words' }] }, 'The transcription server responded with 400.'],
        [400, { error: 'sk-of-the-tests' }, 'The transcription server responded with 400.'],
        [400, { detail: 'x'.repeat(500) }, `The transcription server responded with 400: ${'x'.repeat(200)}`],
        [302, {}, 'The transcription server responded with 302.'],
        [200, { transcript: 'words' }, 'The response of the transcription server has no text.'],
        [200, { text: ['words'] }, 'The response of the transcription server has no text.'],
      ],
      async ([status, answer, message]) => {
        const elsewhere = await openAiServer(200, { text: 'words' })
        const server = await openAiServer(status, answer, { location: elsewhere.url })
        expect(await ask(server.url)).toMatchObject({ ...failed, message, detail: message })
        expect(elsewhere.asked).toEqual([])
      },
    ))

  test('that repeats the prompt in its reason is quoted without it', async () => {
    const server = await openAiServer(400, { error: { message: 'The prompt "Ann Smith" is too long.' } })
    const failure = await rejection(chosen(server.url).transcribe({ ...recording(), prompt: 'Ann Smith' }))
    expect(failure).toMatchObject({ detail: 'The transcription server responded with 400.' })
  })

  test('that responds with 429 or 503 is unavailable for the time that it says', () =>
    everyCase(
      [
        [429, { 'retry-after': '7' }, 7],
        [429, { 'retry-after': '999999' }, 3_600],
        [429, {}, 10],
        [503, { 'retry-after': 'soon' }, 10],
        [500, {}, 10],
      ],
      async ([status, headers, seconds]) => {
        const server = await openAiServer(status, {}, headers)
        expect(await ask(server.url)).toMatchObject({
          code: 'engine_unavailable',
          retryAfterSeconds: seconds,
          message: `The transcription server responded with ${status}.`,
        })
      },
    ))

  test('that responds with something else than a text has failed', () =>
    everyCase(
      [
        ['a web page', 'text/html; charset=utf-8', '<p>words', 'a web page'],
        ['nonsense', 'application/json', 'words', 'is not JSON'],
        ['nothing', 'application/json', '', 'is not JSON'],
      ],
      async ([_what, type, body, message]) => {
        const server = await listen((request, response) => {
          request.resume().on('end', () => response.writeHead(200, { 'content-type': type }).end(body))
        })
        onTestFinished(() => server.close())
        expect(await ask(server.url)).toMatchObject({ ...failed, message: expect.stringContaining(message) })
      },
    ))

  test('that sends more than 32 MB has failed, and is read no further', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, ' ')
    let sent = 0
    const server = await listen((request, response) => {
      const closed = once(response, 'close')
      request.resume().on('end', async () => {
        response.writeHead(200, { 'content-type': 'application/json' })
        while (!response.destroyed && sent < 300) {
          sent += 1
          if (!response.write(megabyte)) await Promise.race([once(response, 'drain'), closed])
        }
      })
    })
    onTestFinished(() => server.close())
    expect(await ask(server.url)).toMatchObject({ ...failed, message: expect.stringContaining('32 MB') })
    await eventually(() => expect(sent).toBeLessThan(100))
  })

  test('that refuses a language does not have it', async () => {
    const about = (param: string) => ({ error: { message: 'no', type: 'invalid_request_error', param } })
    for (const [param, error] of [
      ['language', { name: 'LanguageError' }],
      ['model', { name: 'EngineError', code: 'engine_failed' }],
    ] as const) {
      const server = await openAiServer(400, about(param))
      const transcriber = openAiTranscriber({
        url: server.url,
        apiKey: undefined,
        fields: {},
        upload: UPLOAD,
      })
      await expect(transcriber.transcribe({ ...recording(), language: 'tlh' })).rejects.toMatchObject(error)
    }
  })

  test('is sent hours of sound without holding them in memory', async () => {
    const long = join(folder.path, 'hours.wav')
    await writeFile(long, '')
    const bytes = 400 * 1024 * 1024
    await truncate(long, bytes)
    let received = 0
    let most = 0
    const before = process.memoryUsage().rss
    const server = await listen((request, response) => {
      request.on('data', (chunk: Buffer) => {
        received += chunk.length
        most = Math.max(most, process.memoryUsage.rss())
      })
      request.on('end', () => response.end('{"text":"words"}'))
    })
    onTestFinished(() => server.close())
    expect(
      await chosen(`${server.url}?upload_megabytes=500`).transcribe({ ...recording(), path: long }),
    ).toEqual({ text: 'words' })
    expect(received).toBeGreaterThan(bytes)
    expect(most - before).toBeLessThan(bytes / 2)
  })

  test('that cannot be reached or breaks off is unavailable', async () => {
    const server = await listen((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
        response.write('{"text":', () => response.destroy())
      })
    })
    const unavailable = { code: 'engine_unavailable', retryAfterSeconds: 10 }
    expect(await ask(server.url)).toMatchObject(unavailable)
    await server.close()
    expect(await ask(server.url)).toMatchObject(unavailable)
  })

  test('is abandoned with the reason of the caller', async () => {
    const gone = new AbortController()
    const server = await listen((request) => {
      request.resume().on('end', () => gone.abort(new Error('gone')))
    })
    onTestFinished(() => server.close())
    expect((await ask(server.url, gone.signal)).message).toBe('gone')
  })
})

describe('a command', () => {
  const script = (text: string) => commandTranscriber([process.execPath, '-e', text, '{file}'])

  test('receives the path of the recording and prints the text', async () => {
    const transcriber = script("console.log(' go forward\\n\\n ten meters '); console.error('loading')")
    expect(await transcriber.transcribe(recording())).toEqual({ text: 'go forward ten meters' })
    const reader = script("process.stdout.write(require('fs').readFileSync(process.argv[1]))")
    expect(await reader.transcribe(recording())).toEqual({ text: SOUND })
  })

  test('sees none of the secrets in our environment, and is run without a shell', async () => {
    vi.stubEnv('SERVICE_SECRET', SECRET)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { text } = await script('console.log(Object.keys(process.env).join())').transcribe(recording())
    expect(text.split(',').filter((name) => !['PATH', 'LANG', 'HOME'].includes(name))).toEqual([])
    const echo = commandTranscriber([process.execPath, '-p', 'process.argv[1]', '$(id);{file}'])
    expect((await echo.transcribe(recording())).text).toBe(`$(id);${path}`)
  })

  test('that exits with an error, does not exist or prints endlessly has failed', async () => {
    const failing = await rejection(
      script("console.error('no model'); process.exit(3)").transcribe(recording()),
    )
    expect(failing.message).toBe('command exited with status 3: no model')
    const absent = commandTranscriber(['/nowhere/whisper', '{file}']).transcribe(recording())
    expect(await rejection(absent)).toMatchObject({ code: 'ENOENT' })
    const endless = script("for (;;) require('fs').writeSync(1, 'word '.repeat(1000))").transcribe(
      recording(),
    )
    expect((await rejection(endless)).message).toMatch(/^command exited with status none/)
  })

  test('is killed when its result is no longer needed', async () => {
    const gone = new AbortController()
    const started = join(folder.path, 'started')
    const waiting = script(
      `require('fs').writeFileSync(${JSON.stringify(started)}, String(process.pid)); setInterval(() => {}, 1000)`,
    )
    const ended = rejection(waiting.transcribe(recording(gone.signal)))
    const pid = await vi.waitFor(
      async () => Number(await readFile(started, 'utf8')) || Promise.reject(new Error('not yet')),
      PATIENCE_MS,
    )
    gone.abort(new Error('gone'))
    expect((await ended).message).toBe('gone')
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})

describe('the option transcriberConcurrency', () => {
  test('is 16 for a server and the number of cores for other engines, unless it is set', () => {
    const server = parseEngine('https://speech.example')
    if (typeof server === 'string') throw new Error(server)
    expect(getConcurrency(server)).toBe(16)
    expect(getConcurrency({ by: 'pocketsphinx' })).toBe(availableParallelism())
    const options = { secret: SECRET, delivery: 'inbox' }
    expect(readOptions({ ...options, transcriberConcurrency: 1_000 }).transcriberConcurrency).toBe(1_000)
    for (const transcriberConcurrency of [0, 1_001, 1.5]) {
      expect(() => readOptions({ ...options, transcriberConcurrency })).toThrow(
        'transcriberConcurrency must be a whole number from 1 to 1000',
      )
    }
    const environment = { SERVICE_TRANSCRIBER_CONCURRENCY: 'many', DATA_DIR: folder.path }
    expect(() => readEnvironment(environment, { dataDir: folder.path })).toThrow(
      'SERVICE_TRANSCRIBER_CONCURRENCY must be a whole number from 1 to 1000.',
    )
  })
})

describe('the option transcriber', () => {
  const OWN: Transcriber = { name: 'own', givesTimes: false, transcribe: async () => ({ text: 'words' }) }

  test('accepts every form', () =>
    everyCase<[string | Transcriber, Engine]>(
      [
        ['auto', { by: 'auto' }],
        ['off', { by: 'off' }],
        ['pocketsphinx', { by: 'pocketsphinx' }],
        [
          'command:whisper-cli -m "/models/base en.bin" -nt -f {file}',
          { by: 'command', words: ['whisper-cli', '-m', '/models/base en.bin', '-nt', '-f', '{file}'] },
        ],
        [
          'https://speech.example',
          {
            by: 'server',
            url: 'https://speech.example/v1/audio/transcriptions',
            fields: { model: 'whisper-1' },
            upload: UPLOAD,
          },
        ],
        [
          'http://127.0.0.1:8080/inference?model=x&language=en',
          {
            by: 'server',
            url: 'http://127.0.0.1:8080/inference',
            fields: { model: 'x', language: 'en' },
            upload: UPLOAD,
          },
        ],
        [
          'https://speech.example?upload_format=flac&upload_megabytes=15',
          {
            by: 'server',
            url: 'https://speech.example/v1/audio/transcriptions',
            fields: { model: 'whisper-1' },
            upload: { format: 'flac', maxBytes: 15 * 1024 * 1024 },
          },
        ],
        [OWN, { by: 'object', engine: OWN }],
      ],
      ([text, engine]) => {
        expect(parseEngine(text)).toEqual(engine)
      },
    ))

  test('refuses anything else', () =>
    everyCase(
      [
        ['whisper', 'must be auto, off, pocketsphinx, command:…, the address'],
        ['', 'must be auto'],
        ['https://', 'must be auto'],
        ['ftp://speech.example', 'must be auto'],
        ['deepgram+https://speech.example', 'must be auto'],
        ['https://user:key@speech.example', 'set the key in transcriberKey'],
        ['https://speech.example?upload_format=mp3', 'may set upload_format to wav or flac'],
        ['https://speech.example?upload_megabytes=0', 'upload_megabytes to a whole number from 1 to 9999'],
        ['https://speech.example?upload_megabytes=25MB', 'upload_megabytes to a whole number'],
        ['command:', 'must name a program'],
        ['command:whisper-cli', 'must contain {file}'],
      ],
      ([transcriber, fault]) => {
        const read = () => readOptions({ secret: SECRET, delivery: 'inbox', transcriber })
        expect(read).toThrow(ConfigurationError)
        expect(read).toThrow(fault)
      },
    ))

  test('refuses an object that cannot transcribe', () => {
    const objects: object = { transcriber: { name: 'own' }, liveTranscriber: { name: 'own' } }
    expect(() => readOptions({ secret: SECRET, delivery: 'inbox', ...objects })).toThrow(
      /transcriber must be .* with transcribe\(\).*\n.*liveTranscriber must be .* with open\(\)/,
    )
  })

  test('reports its faults with all others', () => {
    const faulty = {
      secret: SECRET,
      delivery: 'inbox',
      transcriber: 'whisper',
      transcriberKey: 'two\nlines',
      transcribeHosts: ['http://media.internal'],
    }
    expect(() => readOptions(faulty)).toThrow(
      /transcriber must.*\n.*transcriberKey must.*\n.*transcribeHosts must/,
    )
  })

  test.skipIf(!hasRealEngine())('is called a demonstration at start if it selects pocketsphinx', async () => {
    const options = {
      secret: SECRET,
      delivery: 'https://delivery.example',
      webhookSecret: SECRET,
      dataDir: 'memory://',
    }
    const service = await createService(options)
    onTestFinished(() => service.close())
    expect(service.info.transcriber).toBe('pocketsphinx (a demonstration)')
    vi.stubEnv('NODE_ENV', 'production')
    onTestFinished(() => void vi.unstubAllEnvs())
    const warned = (transcriber: string) =>
      startWarnings(readOptions({ ...options, transcriber }), 'postgresql').map(({ event }) => event)
    expect(warned('auto')).toContain('transcription.demonstration')
    expect(warned('off')).not.toContain('transcription.demonstration')
    expect(warned('https://speech.example')).not.toContain('transcription.demonstration')
  })

  test('selects no engine if none is installed', () => {
    vi.stubEnv('PATH', folder.path)
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const by of ['auto', 'off', 'pocketsphinx'] as const) {
      expect(createTranscriber({ by }, undefined)).toBeUndefined()
    }
  })
})
