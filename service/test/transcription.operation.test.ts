import { watch } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CountersignService, createService } from '@countersign/service'
import type { TranscribeRequest } from 'countersign/speech'
import { createSpeechClient } from 'countersign/speech'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import { API_KEY, listen, SECRET } from './kit.js'
import { ffmpeg, goForwardAs, hasRealEngine } from './recordings.js'

type Progress = Parameters<NonNullable<TranscribeRequest['onProgress']>>[0]

const FORMATS = ['wav', 'mp3', 'm4a', 'ogg']
const SAID = { text: 'go forward ten meters', language: 'en', duration: expect.closeTo(2.8, 1) }
const TRANSCRIBED = {
  outcome: 'transcribed',
  text: SAID.text,
  durationSeconds: SAID.duration,
  language: 'en',
}
/** How many engines run as children of this process. */
async function enginesOfThisProcess(): Promise<number> {
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')
  const names = children
    .split(' ')
    .filter(Boolean)
    .map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => ''))
  return (await Promise.all(names)).filter((name) => name.startsWith('pocketsphinx')).length
}

const bearer = { authorization: `Bearer ${API_KEY}` }

describe.skipIf(!hasRealEngine())('a recording of "go forward ten meters"', () => {
  const events: LogEvent[] = []
  const files = new Map<string, string>()
  let folder: TemporaryFolder
  let host: Awaited<ReturnType<typeof listen>>
  let service: CountersignService
  let server: Awaited<ReturnType<typeof listen>>

  beforeAll(async () => {
    folder = temporaryFolder()
    for (const format of FORMATS) files.set(format, await goForwardAs(format, folder.path))
    host = await listen(async (request, response) => {
      const format = new URL(request.url ?? '', 'http://host').pathname.slice(1)
      const file = files.get(format)
      response.writeHead(file ? 200 : 404, { 'content-type': 'audio/x-whatever' })
      response.end(file && (await readFile(file)))
    })
    service = await createService({
      dataDir: 'memory://',
      secret: SECRET,
      apiKey: API_KEY,
      delivery: 'inbox',
      transcribeHosts: [new URL(host.url).host],
      logger: (event) => void events.push(event),
    })
    server = await listen(service.api)
  })
  afterAll(async () => {
    await server.close()
    await service.close()
    await host.close()
    folder.remove()
  })

  const post = async (body: RequestInit['body'], headers = {}) => {
    const response = await fetch(`${server.url}/v1/transcribe`, {
      method: 'POST',
      headers: { ...bearer, ...headers },
      body: body ?? null,
    })
    return [response.status, await response.json()]
  }
  const addressOf = (format: string) => `${host.url}/${format}?token=of-the-caller`
  const blobOf = async (format: string) => new Blob([await readFile(files.get(format) ?? '')])

  test('is transcribed from mp3 by its address in JSON; the log shows the progress, but neither the words nor the query', async () => {
    events.length = 0
    const json = JSON.stringify({ file: addressOf('mp3') })
    expect(await post(json, { 'content-type': 'application/json' })).toEqual([200, SAID])
    const file = `${host.url}/mp3`
    const about = { level: 'info', application: 'default', request: expect.any(String), file }
    const bytes = (await blobOf('mp3')).size
    expect(events.filter(({ event }) => event.startsWith('transcription.'))).toEqual([
      { ...about, event: 'transcription.received', bytes },
      { ...about, event: 'transcription.decoded', seconds: SAID.duration },
      { ...about, event: 'transcription.done', seconds: SAID.duration, detail: 'pocketsphinx' },
    ])
    expect(JSON.stringify(events)).not.toMatch(/token|forward/)
  })

  test('is transcribed from m4a by its address in a multipart form', async () => {
    const form = new FormData()
    form.set('file', addressOf('m4a'))
    expect(await post(form)).toEqual([200, SAID])
  })

  // The others are above, by their address.
  test.each(['wav', 'ogg'])('is transcribed from %s by upload', async (format) => {
    const form = new FormData()
    form.set('note', 'another field before it')
    form.set('file', await blobOf(format), '../../etc/passwd')
    expect(await post(form)).toEqual([200, SAID])
  })

  test('is transcribed through the client, by address and by path', async () => {
    const client = createSpeechClient({ baseUrl: server.url, apiKey: API_KEY })
    expect(await client.transcribe({ file: addressOf('wav') })).toEqual(TRANSCRIBED)
    expect(await client.transcribe({ file: files.get('m4a') ?? '' })).toEqual(TRANSCRIBED)
    await client.close()
  })

  test('is transcribed in the same process, by address and by path', async () => {
    expect(await service.mfa.transcribe({ file: addressOf('m4a') })).toEqual(TRANSCRIBED)
    expect(await service.mfa.transcribe({ file: files.get('ogg') ?? '' })).toEqual(TRANSCRIBED)
    await expect(service.mfa.transcribe({ file: '/nowhere.wav' })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('is transcribed with its times, as subtitles and as text, also from the sound of a video', async () => {
    const video = join(folder.path, 'video.mp4')
    const picture = ['-f', 'lavfi', '-i', 'color=size=64x64:rate=5:duration=3']
    await ffmpeg(...picture, '-i', files.get('wav') ?? '', '-shortest', video)

    const [status, verbose] = await post(
      new URLSearchParams({ file: addressOf('wav'), response_format: 'verbose_json' }),
    )
    const times = { start: expect.any(Number), end: expect.any(Number) }
    expect([status, verbose]).toEqual([
      200,
      {
        ...SAID,
        segments: [{ id: 0, start: expect.closeTo(0.47, 1), end: expect.closeTo(2.12, 1), text: SAID.text }],
        words: SAID.text.split(' ').map((word) => ({ word, ...times, confidence: expect.any(Number) })),
      },
    ])
    const starts: number[] = verbose.words.map(({ start }: { start: number }) => start)
    expect(starts).toEqual(starts.toSorted((a, b) => a - b))

    const form = new FormData()
    form.set('file', new Blob([await readFile(video)]))
    form.set('response_format', 'srt')
    const response = await fetch(`${server.url}/v1/transcribe`, {
      method: 'POST',
      headers: bearer,
      body: form,
    })
    expect(response.headers.get('content-type')).toBe('application/x-subrip; charset=utf-8')
    expect(await response.text()).toMatch(/^1\n00:00:00,\d{3} --> 00:00:02,\d{3}\ngo forward ten meters\n$/)
    const client = createSpeechClient({ baseUrl: server.url, apiKey: API_KEY })
    expect(await client.transcribeText({ file: video, format: 'text' })).toBe(SAID.text)
    await client.close()
    expect(await service.mfa.transcribe({ file: video, format: 'vtt' })).toEqual({
      outcome: 'transcribed',
      text: expect.stringMatching(/^WEBVTT\n\n00:00:00\.\d{3} --> [\d:.]+\ngo forward ten meters\n$/),
    })
  })

  describe('that is repeated three times', () => {
    let padded: string
    beforeAll(async () => {
      padded = join(folder.path, 'padded.wav')
      await ffmpeg('-i', files.get('wav') ?? '', '-af', 'apad=pad_dur=2', padded)
      files.set('long', await repeat(3))
    })
    async function repeat(times: number): Promise<string> {
      const repeated = join(folder.path, `repeated-${times}.wav`)
      await ffmpeg('-stream_loop', `${times - 1}`, '-i', padded, repeated)
      return repeated
    }
    const openEvents = async (path: string | undefined, signal?: AbortSignal) => {
      const body = new FormData()
      body.set('file', new Blob([await readFile(path ?? '')]))
      const headers = { ...bearer, accept: 'text/event-stream' }
      return fetch(`${server.url}/v1/transcribe`, { method: 'POST', headers, body, signal: signal ?? null })
    }

    test('is reported sentence by sentence, then as a whole', async () => {
      const response = await openEvents(files.get('long'))
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const events = [...(await response.text()).matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(
        ([, name, data = '']) => ({ name, ...JSON.parse(data) }),
      )
      const transcribing = { name: 'progress', state: 'transcribing', duration: expect.closeTo(14.4, 0) }
      const sentence = { ...transcribing, text: SAID.text, seconds: expect.any(Number) }
      expect(events).toEqual([
        { name: 'progress', state: 'decoding' },
        { ...transcribing, seconds: 0 },
        sentence,
        sentence,
        sentence,
        {
          name: 'result',
          text: [1, 2, 3].map(() => SAID.text).join(' '),
          duration: expect.any(Number),
          language: 'en',
        },
      ])
      const seconds = events.slice(1, -1).map((event) => event.seconds)
      expect(seconds).toEqual(seconds.toSorted((a, b) => a - b))
    })

    test('is reported to the client and in process', async () => {
      const client = createSpeechClient({ baseUrl: server.url, apiKey: API_KEY })
      onTestFinished(() => client.close())
      for (const mfa of [client, service.mfa]) {
        const texts: (string | undefined)[] = []
        const onProgress = ({ text }: Progress) => void texts.push(text)
        await mfa.transcribe({ file: files.get('long') ?? '', onProgress })
        expect(texts.filter(Boolean)).toEqual([SAID.text, SAID.text, SAID.text])
      }
    })

    test('is given up as soon as the caller is gone, and the engine ends', async () => {
      events.length = 0
      // So many minutes that no engine is done before the first sentence is read.
      const lasting = await repeat(60)
      const gone = new AbortController()
      const response = await openEvents(lasting, gone.signal)
      // `for await` would close the connection as soon as it is left.
      const reader = response.body?.getReader()
      let text = ''
      while (!text.includes(SAID.text)) {
        const piece = await reader?.read()
        if (!piece || piece.done) break
        text += Buffer.from(piece.value).toString()
      }
      expect(await enginesOfThisProcess()).toBe(1)
      gone.abort()
      await expect.poll(enginesOfThisProcess).toBe(0)
      await expect.poll(() => events.map(({ event }) => event)).toContain('transcription.abandoned')

      const over = new AbortController()
      const onProgress = ({ text }: Progress) => text && over.abort(new Error('enough'))
      const call = { file: lasting, signal: over.signal, onProgress }
      await expect(service.mfa.transcribe(call)).rejects.toThrow('enough')
      await expect.poll(enginesOfThisProcess).toBe(0)
    })
  })

  test('is transcribed from ogg by its address, and leaves no file behind', async () => {
    const temporary = join(folder.path, 'temporary')
    await mkdir(temporary)
    vi.stubEnv('TMPDIR', temporary)
    const seen: (string | null)[] = []
    const watched = watch(temporary, (_event, name) => void seen.push(name))
    expect(await post(new URLSearchParams({ file: addressOf('ogg') }))).toEqual([200, SAID])
    expect((await post(new URLSearchParams({ file: `${host.url}/nothing` })))[0]).toBe(422)
    watched.close()
    vi.unstubAllEnvs()
    expect(seen.length).toBeGreaterThan(0)
    expect(await readdir(temporary)).toEqual([])
  })
})
