import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { createService } from '@countersign/service'
import { createSpeechClient } from 'countersign/speech'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { inProcessService } from '../src/flows/in-process-service.js'
import { readOptions } from '../src/run/options.js'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import {
  EngineError,
  LanguageError,
  type Recording,
  type Transcriber,
} from '../src/transcription/engines/transcriber.js'
import { transcriptionLimits } from '../src/transcription/recording-limits.js'
import { createPathSource } from '../src/transcription/sources/from-address.js'
import type { Received, RecordingSource } from '../src/transcription/sources/recording-source.js'
import { createTranscription, type TranscriptionParts } from '../src/transcription/transcription.js'
import { apiOver } from './api-kit.js'
import { API_KEY, type Bench, eventually, freshTenant, listen, openBench, rejection, SECRET } from './kit.js'
import { countingTarget, ffmpeg, hasRealEngine } from './recordings.js'

const bearer = { authorization: `Bearer ${API_KEY}` }
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

/** An engine with a fixed result. */
function fakeEngine(text = 'words') {
  const heard: Recording[] = []
  const transcriber: Transcriber = {
    name: 'fake',
    givesTimes: false,
    async transcribe(recording) {
      heard.push(recording)
      return { text }
    },
  }
  return { transcriber, heard }
}

/** A service over HTTP with the test's own transcription. */
async function serve(parts: Partial<TranscriptionParts>) {
  const events: LogEvent[] = []
  const log = (event: LogEvent) => void events.push(event)
  const transcription = createTranscription({
    transcriber: undefined,
    fetchOptions: { hosts: [] },
    log,
    maxConcurrent: 2,
    ...parts,
  })
  const { application } = freshTenant(bench)
  const server = await listen(apiOver({ ...bench.context, log, transcription }, application))
  onTestFinished(() => server.close())
  const post = async (body: NonNullable<RequestInit['body']>, headers = {}) => {
    const response = await fetch(`${server.url}/v1/transcribe`, {
      method: 'POST',
      headers: { ...bearer, ...headers },
      body,
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return { url: server.url, transcription, events, post }
}

function formWith(content: BlobPart, name = 'a.mp3'): FormData {
  const form = new FormData()
  form.set('file', new Blob([content]), name)
  return form
}

/** A source that waits until it is released. */
function heldSource() {
  let resolve: (received: Received) => void = () => {}
  const promise = new Promise<Received>((give) => {
    resolve = give
  })
  const source: RecordingSource = {
    name: 'held',
    receive: (_path, signal) =>
      Promise.race([
        promise,
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
      ]),
  }
  const release = () => resolve({ outcome: 'refused', refusal: { reason: 'fetch_failed' } })
  return { source, release }
}

describe('a service without an engine', () => {
  test('responds with 501 and how to install an engine, to an address and to an upload', async () => {
    const service = await createService({
      dataDir: 'memory://',
      secret: SECRET,
      apiKey: API_KEY,
      delivery: 'inbox',
      transcriber: 'off',
    })
    const server = await listen(service.api)
    onTestFinished(async () => {
      await server.close()
      await service.close()
    })
    for (const body of [new URLSearchParams({ file: 'https://media.example/a.mp3' }), formWith('sound')]) {
      const response = await fetch(`${server.url}/v1/transcribe`, { method: 'POST', headers: bearer, body })
      expect(response.status).toBe(501)
      expect(response.headers.get('content-type')).toContain('application/problem+json')
      expect(await response.json()).toMatchObject({
        code: 'transcription_unavailable',
        detail: expect.stringMatching(/pocketsphinx.*SERVICE_TRANSCRIBER/),
      })
    }
    const unavailable = { outcome: 'refused', refusal: { reason: 'transcription_unavailable' } }
    expect(await service.mfa.transcribe({ file: 'https://media.example/a.mp3' })).toEqual(unavailable)
    const client = createSpeechClient({ baseUrl: server.url, apiKey: API_KEY })
    expect(await client.transcribe({ file: 'https://media.example/a.mp3' })).toEqual(unavailable)
    await client.close()
  })
})

describe('more concurrent recordings than allowed', () => {
  test('get 429 with Retry-After until one is finished', async () => {
    const { transcription, post } = await serve({ transcriber: fakeEngine().transcriber, maxConcurrent: 2 })
    const held = [heldSource(), heldSource()]
    const under = held.map(({ source }) => transcription.transcribe(source, { application: 'x' }))
    const file = 'https://127.0.0.1/a.mp3'
    for (const body of [new URLSearchParams({ file }), formWith('sound')]) {
      const refused = await post(body)
      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toBe('10')
      expect(refused.body).toMatchObject({ code: 'busy', retry_after: 10 })
    }
    held[0]?.release()
    await under[0]
    expect((await post(new URLSearchParams({ file }))).body.code).toBe('address_refused')
    held[1]?.release()
    await under[1]
  })

  test('of two applications take turns, even if one of them asks all the time', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { transcription } = await serve({ transcriber: fakeEngine().transcriber, maxConcurrent: 2 })
    const ask = (application: string) => {
      const held = heldSource()
      const answer = transcription.transcribe(held.source, { application })
      return {
        async done() {
          held.release()
          await answer
        },
        isTurnedAway: () =>
          Promise.race([
            answer.then((given) => given.outcome === 'refused' && given.refusal.reason === 'busy'),
            new Promise<false>((resolve) => setImmediate(resolve, false)),
          ]),
      }
    }
    const [first, second] = [ask('greedy'), ask('greedy')]
    expect(await ask('greedy').isTurnedAway()).toBe(true)
    expect(await ask('modest').isTurnedAway()).toBe(true)
    await first.done()
    // It was turned away first, so it is its turn, but only once.
    const third = ask('greedy')
    expect(await third.isTurnedAway()).toBe(false)
    expect(await ask('greedy').isTurnedAway()).toBe(true)
    await second.done()
    expect(await ask('greedy').isTurnedAway()).toBe(true)
    const modest = ask('modest')
    expect(await modest.isTurnedAway()).toBe(false)
    expect(await ask('modest').isTurnedAway()).toBe(true)
    await third.done()
    expect(await ask('modest').isTurnedAway()).toBe(true)
    // A place in the queue is kept for half a minute.
    vi.setSystemTime(Date.now() + 30_000)
    const later = ask('modest')
    expect(await later.isTurnedAway()).toBe(false)
    await Promise.all([modest.done(), later.done()])
  })

  test('are stopped when the service closes', async () => {
    const { transcription, events } = await serve({ transcriber: fakeEngine().transcriber })
    const ended = rejection(transcription.transcribe(heldSource().source, { application: 'x' }))
    await transcription.close()
    expect((await ended).message).toBe('The service is closing.')
    expect(events.map(({ event }) => event)).toEqual(['transcription.abandoned'])
    expect(await rejection(transcription.transcribe(heldSource().source, { application: 'x' }))).toBeTruthy()
  })

  test('free their slot as soon as the caller closes the connection', async () => {
    const { url, events, post } = await serve({ transcriber: fakeEngine().transcriber, maxConcurrent: 1 })
    const upload = request(`${url}/v1/transcribe`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'multipart/form-data; boundary=x', 'content-length': '1000' },
    })
    upload.on('error', () => {})
    upload.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nsound')
    await eventually(async () => {
      expect((await post(formWith('sound'))).status).toBe(429)
    })
    upload.destroy()
    await eventually(() => expect(events.map(({ event }) => event)).toContain('transcription.abandoned'))
    expect((await post(new URLSearchParams({ file: 'nowhere' }))).body.code).toBe('address_refused')
  })
})

/** A form with an address, of which curl's `-F` has made two parts. */
function cutAddress(): FormData {
  const form = new FormData()
  form.set('file', 'https://a.example/b.wav?X-Date=1')
  form.set('X-Signature', '2')
  return form
}

describe('an invalid transcription request', () => {
  const MULTIPART = 'multipart/form-data; boundary=x'
  test.each<[string, number, string, string | FormData, string | undefined]>([
    ['has no file', 400, 'invalid_request', '', 'application/x-www-form-urlencoded'],
    ['has an empty file', 400, 'invalid_request', 'file=', 'application/x-www-form-urlencoded'],
    ['has two files', 400, 'invalid_request', 'file=a&file=b', 'application/x-www-form-urlencoded'],
    ['has a number', 400, 'invalid_request', '{"file":7}', 'application/json'],
    ['has an object', 400, 'invalid_request', '{"file":{"path":"/etc/passwd"}}', 'application/json'],
    ['has a control character', 400, 'invalid_request', '{"file":"https://a\\u0000"}', 'application/json'],
    ['has no end', 400, 'invalid_request', `{"file":"https://a/${'a'.repeat(2_100)}"}`, 'application/json'],
    ['is too large', 413, 'body_too_large', `{"file":"${'a'.repeat(5_000)}"}`, 'application/json'],
    ['is no JSON', 400, 'invalid_request', '{"file"', 'application/json'],
    ['is a sound', 415, 'unsupported_media_type', 'RIFF', 'audio/wav'],
    ['is a form without bounds', 400, 'invalid_request', 'x', 'multipart/form-data'],
    ['is a form without parts', 400, 'invalid_request', '--x--\r\n', MULTIPART],
    ['is a form that breaks off', 400, 'invalid_request', '--x\r\nContent-Disp', MULTIPART],
    ['is a form that never begins', 400, 'invalid_request', 'sound sound sound', MULTIPART],
    ['is a form with other parts', 400, 'invalid_request', otherParts(), undefined],
    ...['application/x-www-form-urlencoded', undefined].map(
      (type): [string, number, string, string | FormData, string | undefined] => [
        `has an address that was cut at its & (${type ?? 'multipart/form-data'})`,
        400,
        'invalid_request',
        type ? 'file=https://a.example/b.wav?X-Date=1&X-Signature=2' : cutAddress(),
        type,
      ],
    ),
    [
      'names a field that is unknown',
      400,
      'invalid_request',
      '{"file":"https://a","x":1}',
      'application/json',
    ],
    [
      'names a file of the server',
      422,
      'address_refused',
      'file=/etc/passwd',
      'application/x-www-form-urlencoded',
    ],
  ])('that %s is refused with %d %s', async (_title, status, code, body, contentType) => {
    const { transcriber, heard } = fakeEngine()
    const { post, events } = await serve({ transcriber })
    const answer = await post(body, contentType ? { 'content-type': contentType } : {})
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(heard).toEqual([])
    expect(events.filter(({ level }) => level === 'error')).toEqual([])
  })

  function otherParts(): FormData {
    const form = new FormData()
    form.set('document', new Blob(['sound']), 'a.mp3')
    form.set('path', '/etc/passwd')
    return form
  }

  test('without a key is refused before its body is read', async () => {
    const { url } = await serve({ transcriber: fakeEngine().transcriber })
    const response = await fetch(`${url}/v1/transcribe`, { method: 'POST', body: formWith('sound') })
    expect([response.status, (await response.json()).code]).toEqual([401, 'invalid_api_key'])
    const got = await fetch(`${url}/v1/transcribe`, { headers: bearer })
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe.skipIf(!hasRealEngine())('the language and the prompt', () => {
  test('reach the engine from a form, whatever their order, and from the client', async () => {
    const { transcriber, heard } = fakeEngine()
    const { post, url } = await serve({ transcriber })
    const path = join(folder.path, 'tone.mp3')
    await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1', path)
    const file = new Blob([await readFile(path)])
    const form = new FormData()
    form.set('language', 'pt-BR')
    form.set('file', file, 'a.mp3')
    form.set('prompt', 'names')
    expect((await post(form)).status).toBe(200)
    const client = createSpeechClient({ baseUrl: url, apiKey: API_KEY })
    onTestFinished(() => client.close())
    await client.transcribe({ file: path, language: 'en', prompt: 'more "names"' })
    expect(heard).toMatchObject([
      { language: 'pt-BR', prompt: 'names' },
      { language: 'en', prompt: 'more "names"' },
    ])
    form.set('language', 'no language')
    const refused = await post(form)
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ field: 'language', detail: 'must be a language tag such as en or pt-BR' }],
    ])
    form.set('language', 'en')
    form.append('language', 'de')
    const twice = await post(form)
    expect([twice.status, twice.body.errors[0].field]).toEqual([400, 'language'])
    const json = await post(JSON.stringify({ file: 'https://a.example', language: 7 }), {
      'content-type': 'application/json',
    })
    expect([json.status, json.body.errors[0].field]).toEqual([400, 'language'])
  })
})

describe('a language that the engine does not have', () => {
  const { transcriber, heard } = fakeEngine()
  const english: Transcriber = { ...transcriber, languages: ['en'] }
  const spoken = async (parts: Partial<TranscriptionParts>, language: string) => {
    const path = join(folder.path, 'spoken.wav')
    await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1', path)
    const { post } = await serve(parts)
    const form = formWith(await readFile(path))
    form.set('language', language)
    const { status, body } = await post(form)
    return [status, body.code ?? body.text]
  }

  test.skipIf(!hasRealEngine())('is refused with 422, unlike a dialect of one that it has', async () => {
    expect(await spoken({ transcriber: english }, 'de')).toEqual([422, 'language_unavailable'])
    expect(await spoken({ transcriber: english }, 'ENG')).toEqual([422, 'language_unavailable'])
    expect(heard).toEqual([])
    expect(await spoken({ transcriber: english }, 'en-GB')).toEqual([200, 'words'])
    expect(await spoken({ transcriber }, 'de')).toEqual([200, 'words'])
  })

  test.skipIf(!hasRealEngine())('is named by the operator, or by the engine while it works', async () => {
    const portuguese = { transcriber: english, languages: ['pt', 'en-US'] }
    expect(await spoken(portuguese, 'pt-BR')).toEqual([200, 'words'])
    expect(await spoken(portuguese, 'de')).toEqual([422, 'language_unavailable'])
    const refusing: Transcriber = { ...transcriber, transcribe: () => Promise.reject(new LanguageError()) }
    expect(await spoken({ transcriber: refusing }, 'tlh')).toEqual([422, 'language_unavailable'])
  })
})

describe('an engine without times', () => {
  test('gives no subtitles, and the refusal says how to get an engine that does', async () => {
    const { transcriber, heard } = fakeEngine()
    const { post, url } = await serve({ transcriber })
    const form = formWith('sound')
    form.set('response_format', 'srt')
    const refused = await post(form)
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.objectContaining({
        code: 'timestamps_unavailable',
        detail: expect.stringMatching(/SERVICE_TRANSCRIBER to pocketsphinx/),
      }),
    ])
    const path = join(folder.path, 'subtitled.mp3')
    await writeFile(path, 'sound')
    const client = createSpeechClient({ baseUrl: url, apiKey: API_KEY })
    onTestFinished(() => client.close())
    const refusal = { outcome: 'refused', refusal: { reason: 'timestamps_unavailable' } }
    expect(await client.transcribe({ file: path, format: 'vtt' })).toEqual(refusal)
    expect(heard).toEqual([])
    form.set('response_format', 'docx')
    const unknown = await post(form)
    expect([unknown.status, unknown.body.errors]).toEqual([
      400,
      [{ field: 'response_format', detail: 'must be one of json, text, srt, vtt, verbose_json' }],
    ])
  })

  test.skipIf(!hasRealEngine())(
    'whose server turned out to have none gives none either, except for silence',
    async () => {
      const path = join(folder.path, 'timeless.wav')
      await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1', path)
      const form = formWith(await readFile(path))
      form.set('response_format', 'vtt')
      for (const [text, status] of [
        ['words', 422],
        ['', 200],
      ] as const) {
        const { transcriber } = fakeEngine(text)
        const { url } = await serve({ transcriber: { ...transcriber, givesTimes: true } })
        const response = await fetch(`${url}/v1/transcribe`, { method: 'POST', headers: bearer, body: form })
        expect(response.status).toBe(status)
        if (status === 200) expect(await response.text()).toBe('WEBVTT\n')
      }
    },
  )
})

describe('a file that is too large', () => {
  const tooMuch = new Uint8Array(25 * 1024 * 1024 + 1)

  test('is refused while it arrives', async () => {
    const { transcriber, heard } = fakeEngine()
    const { post } = await serve({ transcriber })
    const { status, body } = await post(formWith(tooMuch))
    expect([status, body.code]).toEqual([413, 'file_too_large'])
    expect(heard).toEqual([])
  })

  test('is refused to the client and in process', async () => {
    const { url, transcription } = await serve({ transcriber: fakeEngine().transcriber })
    const path = join(folder.path, 'large')
    await writeFile(path, tooMuch)
    const refused = { outcome: 'refused', refusal: { reason: 'file_too_large' } }
    const client = createSpeechClient({ baseUrl: url, apiKey: API_KEY })
    expect(await client.transcribe({ file: path })).toEqual(refused)
    await client.close()
    expect(await transcription.transcribe(createPathSource(path), { application: 'x' })).toEqual(refused)
  })
})

describe.skipIf(!hasRealEngine())('what ffmpeg is given', () => {
  let target: Awaited<ReturnType<typeof countingTarget>>
  let engine: ReturnType<typeof fakeEngine>
  let service: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    target = await countingTarget()
  })
  afterAll(() => target.close())
  beforeEach(async () => {
    engine = fakeEngine()
    service = await serve({ transcriber: engine.transcriber })
  })
  afterEach(() => expect(target.connections()).toBe(0))

  const made = async (name: string, ...parameters: string[]) => {
    const path = join(folder.path, name)
    await ffmpeg(...parameters, path)
    return createPathSource(path)
  }
  const transcribe = (source: RecordingSource) =>
    service.transcription.transcribe(source, { application: 'x' })

  test.each([
    ['an HLS playlist', () => `#EXTM3U\n#EXTINF:9,\nhttp://127.0.0.1:${target.port}/a.ts\n#EXT-X-ENDLIST\n`],
    ['a playlist of a local file', () => '#EXTM3U\n#EXTINF:9,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'],
    [
      'a concat script',
      () => "ffconcat version 1.0\nfile '/usr/share/pocketsphinx/test/data/goforward.raw'\n",
    ],
    ['a script with an address', () => `ffconcat version 1.0\nfile 'http://127.0.0.1:${target.port}/a'\n`],
    ['a session description', () => `v=0\nc=IN IP4 127.0.0.1\nm=audio ${target.port} RTP/AVP 0\n`],
    [
      'a DASH manifest',
      () =>
        `<?xml version="1.0"?><MPD><Period><BaseURL>http://127.0.0.1:${target.port}/</BaseURL></Period></MPD>`,
    ],
    ['a subtitle', () => '1\n00:00:00,000 --> 00:00:09,000\ngo forward\n'],
    ['a picture', () => '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['a text', () => 'go forward ten meters'],
    ['nothing', () => ''],
  ])('is refused if it is %s named .mp3', async (_what, content) => {
    const { status, body } = await service.post(formWith(content()))
    expect([status, body.code]).toEqual([415, 'unsupported_media'])
    expect(engine.heard).toEqual([])
  })

  test('is decoded from the first audio track of a video, to 16 kHz mono', async () => {
    const tone = ['-f', 'lavfi', '-i', 'sine=frequency=300:sample_rate=44100:duration=2']
    const picture = ['-f', 'lavfi', '-i', 'color=size=16x16:duration=2']
    const video = await made('video.mkv', ...tone, ...picture, '-ac', '2')
    const durationSeconds = expect.closeTo(2, 1)
    expect(await transcribe(video)).toEqual({ outcome: 'transcribed', text: 'words', durationSeconds })
    expect(engine.heard).toMatchObject([{ durationSeconds }])
  })

  test('is refused if it contains no audio', async () => {
    const silent = await made('silent.mkv', '-f', 'lavfi', '-i', 'color=size=16x16:duration=1')
    expect(await transcribe(silent)).toMatchObject({ refusal: { reason: 'unsupported_media' } })
  })

  test('is refused if it is longer than ten minutes, and accepted otherwise', async () => {
    const hum = (seconds: number) => ['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', String(seconds)]
    const long = await made('long.ogg', ...hum(601))
    expect(await transcribe(long)).toMatchObject({ refusal: { reason: 'recording_too_long' } })
    const fits = await made('fits.flac', ...hum(600))
    expect(await transcribe(fits)).toMatchObject({ outcome: 'transcribed', durationSeconds: 600 })
  })

  test('is refused as damaged if the decoder finds noise in it, but not if it was merely cut off', async () => {
    const sound = ['-f', 'lavfi', '-i', 'sine=frequency=300:duration=20']
    const refused = { outcome: 'refused', refusal: { reason: 'recording_damaged' } }
    for (const format of ['mp3', 'opus', 'm4a']) {
      const whole = join(folder.path, `whole.${format}`)
      await ffmpeg(...sound, whole)
      const bytes = await readFile(whole)
      expect(await transcribe(createPathSource(whole))).toMatchObject({ outcome: 'transcribed' })
      const noisy = join(folder.path, `noisy.${format}`)
      const quarter = Math.floor(bytes.length / 4)
      // Not random, so that every run damages the same bytes.
      const noise = createHash('shake256', { outputLength: 2 * quarter })
        .update('noise')
        .digest()
      await writeFile(noisy, Buffer.concat([bytes.subarray(0, quarter), noise, bytes.subarray(3 * quarter)]))
      expect([format, await transcribe(createPathSource(noisy))]).toEqual([format, refused])
      // MP4 has its index at the end.
      if (format === 'm4a') continue
      const cut = join(folder.path, `cut.${format}`)
      await writeFile(cut, bytes.subarray(0, 2 * quarter))
      expect([format, await transcribe(createPathSource(cut))]).toMatchObject([
        format,
        { outcome: 'transcribed' },
      ])
    }
  })

  test('is refused if it is longer or larger than the operator allows', async () => {
    const limits = transcriptionLimits({
      ...readOptions({ secret: SECRET, delivery: 'inbox', recordingLength: '2s', recordingMegabytes: 1 }),
    })
    const { transcription } = await serve({ transcriber: engine.transcriber, limits })
    const hear = async (file: Awaited<ReturnType<typeof made>>, more = {}) =>
      transcription.transcribe(file, { application: 'x' }, more)
    const tone = (seconds: number, rate = 16_000) => [
      '-f',
      'lavfi',
      '-i',
      `sine=sample_rate=${rate}:duration=${seconds}`,
    ]
    const fits = await made('fits.wav', ...tone(2))
    const long = await made('longer.wav', ...tone(3))
    const large = await made('larger.wav', ...tone(2), '-ar', '96000', '-ac', '4')
    expect(await hear(fits)).toMatchObject({ outcome: 'transcribed' })
    expect(await hear(long)).toMatchObject({ refusal: { reason: 'recording_too_long' } })
    expect(await hear(large)).toMatchObject({ refusal: { reason: 'file_too_large' } })
    // Jobs have their own limits.
    for (const file of [long, large]) {
      expect(await hear(file, { limits: limits.jobs })).toMatchObject({ outcome: 'transcribed' })
    }
  })

  test('gives an empty text if it contains no speech', async () => {
    const quiet = await serve({ transcriber: fakeEngine('').transcriber })
    const path = join(folder.path, 'quiet.wav')
    await ffmpeg('-f', 'lavfi', '-i', 'anullsrc=r=16000', '-t', '1', path)
    const { status, body } = await quiet.post(formWith(await readFile(path)))
    expect([status, body]).toEqual([200, { text: '', duration: 1 }])
    const client = createSpeechClient({ baseUrl: quiet.url, apiKey: API_KEY })
    onTestFinished(() => client.close())
    const silence = { outcome: 'transcribed', text: '', durationSeconds: 1 }
    expect(await client.transcribe({ file: path })).toEqual(silence)
  })

  describe('leads to a problem with Retry-After', () => {
    test.each<[string, unknown, number, string, number]>([
      ['the engine fails', new Error('model of /srv/models is broken'), 502, 'engine_failed', 60],
      [
        'the engine takes too long',
        new DOMException('too long', 'TimeoutError'),
        503,
        'engine_unavailable',
        10,
      ],
      [
        'the engine says how long it is overloaded',
        new EngineError('engine_unavailable', 'busy', { retryAfterSeconds: 7 }),
        503,
        'engine_unavailable',
        7,
      ],
    ])('if %s, and only the log explains it', async (_when, error, status, code, seconds) => {
      const transcriber: Transcriber = {
        name: 'broken',
        givesTimes: false,
        transcribe: () => Promise.reject(error),
      }
      const { post, url, transcription, events } = await serve({ transcriber })
      const path = join(folder.path, 'tone.wav')
      await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1', path)
      const failed = await post(formWith(await readFile(path)))
      expect([failed.status, failed.headers.get('retry-after')]).toEqual([status, String(seconds)])
      expect(failed.body).toMatchObject({ code, retry_after: seconds })
      const streamed = await fetch(`${url}/v1/transcribe`, {
        method: 'POST',
        headers: { ...bearer, accept: 'text/event-stream' },
        body: formWith(await readFile(path)),
      })
      const last = (await streamed.text()).trim().split('\n\n').at(-1) ?? ''
      expect([streamed.status, last.split('\n')[0]]).toEqual([200, 'event: problem'])
      expect(JSON.parse(last.slice(last.indexOf('{')))).toEqual(failed.body)
      expect(JSON.stringify(failed.body)).not.toContain('/srv/models')
      const [event] = events.filter(({ event }) => event === 'transcription.failed')
      expect(event?.detail).toContain((error as Error).message)

      const context = { ...bench.context, transcription }
      const { application } = freshTenant(bench)
      const client = createSpeechClient({ baseUrl: url, apiKey: API_KEY })
      onTestFinished(() => client.close())
      for (const service of [client, inProcessService(context, async () => application)]) {
        await expect(service.transcribe({ file: path })).rejects.toMatchObject({
          code: 'ERR_MFA_SERVICE_UNAVAILABLE',
          retryAfterSeconds: seconds,
        })
      }
    })
  })
})
