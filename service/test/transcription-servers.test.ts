import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer, json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { everyCase } from '../../test/kit/every-case.js'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { assemblyAi } from '../src/transcription/engines/assemblyai.js'
import { deepgram } from '../src/transcription/engines/deepgram.js'
import { eventually, listen } from './kit.js'

const SOUND = 'RIFF….WAVE speech'
let folder: TemporaryFolder
let path: string
beforeAll(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'a recording.wav')
  await writeFile(path, SOUND)
})
afterAll(() => folder.remove())

const recording = (more: object = {}) => ({
  path,
  durationSeconds: 2,
  signal: new AbortController().signal,
  ...more,
})

type Responder = (request: IncomingMessage) => Promise<{ status?: number; headers?: object; body: unknown }>

/** A server on loopback; a request that does not have the documented shape fails the test with status 599. */
async function serve(respond: Responder) {
  const faults: unknown[] = []
  const server = await listen(async (request, response) => {
    const { status, headers, body } = await respond(request).catch((error) => {
      faults.push(error)
      return { status: 599, headers: {}, body: {} }
    })
    response.writeHead(status ?? 200, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  })
  onTestFinished(async () => {
    await server.close()
    expect(faults).toEqual([])
  })
  return server.url
}

/*
 * The parameters and members below are those of the published references: developers.deepgram.com/reference (POST /v1/listen) and
 * assemblyai.com/docs/api-reference (POST /v2/upload, /v2/transcript, GET and DELETE /v2/transcript/{id}).
 */

const listenQuery = z.strictObject({
  model: z.string(),
  smart_format: z.enum(['true', 'false']).optional(),
  diarize: z.enum(['true', 'false']).optional(),
  utterances: z.enum(['true', 'false']).optional(),
  detect_language: z.literal('true').optional(),
  language: z.string().optional(),
  keyterm: z.array(z.string()).optional(),
  keywords: z.array(z.string()).optional(),
})

const WORDS = [
  {
    word: 'go',
    punctuated_word: 'Go',
    start: 0.5,
    end: 0.75,
    confidence: 0.98,
    speaker: 0,
    speaker_confidence: 0.7,
  },
  { word: 'where', punctuated_word: 'Where?', start: 1, end: 1.5, confidence: 0.5, speaker: 1 },
]
const LISTENED = {
  metadata: {
    request_id: '00000000-0000-4000-8000-000000000000',
    sha256: createHash('sha256').update(SOUND).digest('hex'),
    created: '2026-11-01T12:00:00.000Z',
    duration: 2,
    channels: 1,
    models: ['nova-3'],
  },
  results: {
    channels: [
      {
        detected_language: 'en',
        language_confidence: 0.9,
        alternatives: [{ transcript: 'Go. Where?', confidence: 0.93, words: WORDS }],
      },
    ],
    utterances: WORDS.map(({ speaker, start, end, confidence, punctuated_word: transcript }, id) => ({
      ...{ id: String(id), start, end, confidence, channel: 0, transcript, words: [], speaker },
    })),
  },
}

describe('a server with the API of Deepgram', () => {
  async function listening(status = 200, body: unknown = LISTENED) {
    const asked: z.output<typeof listenQuery>[] = []
    const url = await serve(async (request) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://server')
      const lists = ['keyterm', 'keywords'].flatMap((name) =>
        searchParams.has(name) ? [[name, searchParams.getAll(name)]] : [],
      )
      asked.push(listenQuery.parse({ ...Object.fromEntries(searchParams), ...Object.fromEntries(lists) }))
      expect([request.method, pathname]).toEqual(['POST', '/v1/listen'])
      expect(request.headers).toMatchObject({
        authorization: 'Token dg-key',
        'content-type': 'audio/wav',
        'content-length': String(Buffer.byteLength(SOUND)),
      })
      expect((await buffer(request)).toString()).toBe(SOUND)
      return { status, body }
    })
    const engine = (fields: Record<string, string> = { model: 'nova-3' }) =>
      deepgram({ url: `${url}/v1/listen`, apiKey: 'dg-key', fields })
    return { asked, engine }
  }

  test('gives text, times, speakers and its confidence', async () => {
    const { asked, engine } = await listening()
    const said = await engine({ model: 'nova-3', diarize: 'true' }).transcribe(recording({ withTimes: true }))
    const places = [
      { startSeconds: 0.5, endSeconds: 0.75, confidence: 0.98, speaker: '0' },
      { startSeconds: 1, endSeconds: 1.5, confidence: 0.5, speaker: '1' },
    ]
    expect(said).toEqual({
      text: 'Go. Where?',
      language: 'en',
      confidence: 0.93,
      segments: [
        { text: 'Go', ...places[0] },
        { text: 'Where?', ...places[1] },
      ],
      words: [
        { word: 'Go', ...places[0] },
        { word: 'Where?', ...places[1] },
      ],
    })
    expect(asked).toEqual([{ model: 'nova-3', diarize: 'true', utterances: 'true', detect_language: 'true' }])
  })

  test('is asked for a language and names in the words of its model', async () => {
    const { asked, engine } = await listening()
    const spoken = recording({ language: 'pt-BR', prompt: 'Countersign, TOTP' })
    await engine().transcribe(spoken)
    await engine({ model: 'nova-2', language: 'en' }).transcribe(spoken)
    expect(asked).toEqual([
      { model: 'nova-3', language: 'pt-BR', keyterm: ['Countersign', 'TOTP'] },
      { model: 'nova-2', language: 'pt-BR', keywords: ['Countersign', 'TOTP'] },
    ])
  })

  test('gives an empty text for silence', async () => {
    const silence = {
      results: { channels: [{ alternatives: [{ transcript: '', confidence: 0, words: [] }] }] },
    }
    const { engine } = await listening(200, silence)
    expect(await engine().transcribe(recording())).toEqual({ text: '' })
  })

  test('fails in the way that its response means', () =>
    everyCase<[number, object, object, object]>(
      [
        [
          400,
          { err_code: 'Bad Request', err_msg: 'Bad Request: No such model/language/tier combination found.' },
          { language: 'tlh' },
          { name: 'LanguageError' },
        ],
        [
          400,
          { err_code: 'Bad Request', err_msg: 'Bad Request: corrupt data' },
          {},
          { code: 'engine_failed' },
        ],
        [401, { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' }, {}, { code: 'engine_failed' }],
        [429, { err_code: 'TOO_MANY_REQUESTS', err_msg: 'no' }, {}, { code: 'engine_unavailable' }],
        [503, {}, {}, { code: 'engine_unavailable' }],
        [200, { results: { channels: [] } }, {}, { code: 'engine_failed' }],
      ],
      async ([status, body, more, failure]) => {
        const { engine } = await listening(status, body)
        await expect(engine().transcribe(recording(more))).rejects.toMatchObject(failure)
      },
    ))
})

const transcriptRequest = z.strictObject({
  audio_url: z.url(),
  language_code: z.string().optional(),
  language_detection: z.boolean().optional(),
  speaker_labels: z.boolean().optional(),
  speakers_expected: z.number().int().optional(),
  speech_models: z.array(z.string()).optional(),
  keyterms_prompt: z.array(z.string()).optional(),
})

const ID = '5551722-f677-48a6-9287-39c0aafd9ac1'
const UTTERED = [
  { text: 'Go.', start: 500, end: 750, confidence: 0.98, speaker: 'A', words: [] },
  { text: 'Where?', start: 1_000, end: 1_500, confidence: 0.5, speaker: 'B', words: [] },
]
const COMPLETED = {
  id: ID,
  status: 'completed',
  text: 'Go. Where?',
  confidence: 0.93,
  language_code: 'en_us',
  audio_duration: 2,
  words: UTTERED.map(({ words: _words, ...word }) => word),
  utterances: UTTERED,
  error: null,
}

describe('a server with the API of AssemblyAI', () => {
  async function transcribing(results: readonly object[], created: { status?: number; body?: object } = {}) {
    const asked: string[] = []
    const requests: z.output<typeof transcriptRequest>[] = []
    const left = [...results]
    const url: string = await serve(async (request) => {
      const call = `${request.method} ${request.url}`
      asked.push(call)
      expect(request.headers.authorization).toBe('aai-key')
      switch (call) {
        case 'POST /v2/upload':
          expect(request.headers['content-type']).toBe('application/octet-stream')
          expect((await buffer(request)).toString()).toBe(SOUND)
          return { body: { upload_url: 'https://cdn.assemblyai.com/upload/0a1b' } }
        case 'POST /v2/transcript':
          expect(request.headers['content-type']).toBe('application/json')
          requests.push(transcriptRequest.parse(await json(request)))
          return { body: { id: ID, status: 'queued', text: null, words: null, utterances: null }, ...created }
        case `GET /v2/transcript/${ID}`:
          return { body: left.length > 1 ? left.shift() : left[0] }
        case `GET /v2/transcript/${ID}/sentences`:
          return {
            body: {
              id: ID,
              confidence: 0.9,
              audio_duration: 2,
              sentences: UTTERED.map((one) => ({ ...one, speaker: null })),
            },
          }
        case `DELETE /v2/transcript/${ID}`:
          return { body: { ...COMPLETED, text: 'Deleted by user.' } }
        default:
          throw new Error(`The API has no ${call}.`)
      }
    })
    const engine = (fields: Record<string, string> = {}) =>
      assemblyAi({ url: `${url}/v2`, apiKey: 'aai-key', fields, pollMs: 1 })
    return { asked, requests, engine }
  }

  test('is sent the file, asked until the transcript is ready, and told to delete it', async () => {
    const { asked, requests, engine } = await transcribing([
      { ...COMPLETED, status: 'processing' },
      COMPLETED,
    ])
    const fields = {
      speaker_labels: 'true',
      speakers_expected: '2',
      speech_models: 'universal-3-pro,universal-2',
    }
    const said = await engine(fields).transcribe(recording({ withTimes: true, prompt: 'Countersign\nTOTP' }))
    const places = [
      { startSeconds: 0.5, endSeconds: 0.75, confidence: 0.98, speaker: 'A' },
      { startSeconds: 1, endSeconds: 1.5, confidence: 0.5, speaker: 'B' },
    ]
    expect(said).toEqual({
      text: 'Go. Where?',
      language: 'en-us',
      confidence: 0.93,
      segments: [
        { text: 'Go.', ...places[0] },
        { text: 'Where?', ...places[1] },
      ],
      words: [
        { word: 'Go.', ...places[0] },
        { word: 'Where?', ...places[1] },
      ],
    })
    expect(requests).toEqual([
      {
        audio_url: 'https://cdn.assemblyai.com/upload/0a1b',
        speaker_labels: true,
        speakers_expected: 2,
        speech_models: ['universal-3-pro', 'universal-2'],
        language_detection: true,
        keyterms_prompt: ['Countersign', 'TOTP'],
      },
    ])
    const poll = `GET /v2/transcript/${ID}`
    await eventually(() =>
      expect(asked).toEqual([
        'POST /v2/upload',
        'POST /v2/transcript',
        poll,
        poll,
        `DELETE /v2/transcript/${ID}`,
      ]),
    )
  })

  test('gives sentences if it was not told to tell speakers apart', async () => {
    const { asked, requests, engine } = await transcribing([{ ...COMPLETED, utterances: null }])
    const said = await engine().transcribe(recording({ withTimes: true, language: 'en-GB' }))
    expect(said.segments).toEqual([
      { text: 'Go.', startSeconds: 0.5, endSeconds: 0.75, confidence: 0.98 },
      { text: 'Where?', startSeconds: 1, endSeconds: 1.5, confidence: 0.5 },
    ])
    expect(requests).toMatchObject([{ language_code: 'en' }])
    expect(requests[0]).not.toHaveProperty('language_detection')
    expect(asked).toContain(`GET /v2/transcript/${ID}/sentences`)
  })

  test('fails in the way that its response means, and keeps nothing', () =>
    everyCase<[object[], object, object, object]>(
      [
        [
          [{ ...COMPLETED, status: 'error', text: null, error: 'Download error' }],
          {},
          {},
          { code: 'engine_failed' },
        ],
        [
          [],
          { status: 400, body: { error: 'Invalid language' } },
          { language: 'tlh' },
          { name: 'LanguageError' },
        ],
        [[], { status: 400, body: { error: 'Invalid endpoint schema' } }, {}, { code: 'engine_failed' }],
        [[], { status: 401, body: { error: 'Authentication error' } }, {}, { code: 'engine_failed' }],
        [[], { status: 429, body: { error: 'Too many requests' } }, {}, { code: 'engine_unavailable' }],
        [[], { body: { id: '../../v2/upload', status: 'queued' } }, {}, { code: 'engine_failed' }],
      ],
      async ([results, created, more, failure]) => {
        const { asked, engine } = await transcribing(results, created)
        await expect(engine().transcribe(recording(more))).rejects.toMatchObject(failure)
        if (results.length > 0) {
          await eventually(() => expect(asked).toContain(`DELETE /v2/transcript/${ID}`))
        }
      },
    ))

  test('gives an empty text for silence', async () => {
    const error = 'language_detection cannot be performed on files with no spoken audio.'
    const { engine } = await transcribing([{ ...COMPLETED, status: 'error', text: null, words: null, error }])
    expect(await engine().transcribe(recording())).toEqual({ text: '' })
  })

  test('deletes what it has when the caller stops waiting', async () => {
    const { asked, engine } = await transcribing([{ ...COMPLETED, status: 'processing' }])
    const gone = new AbortController()
    const ended = engine().transcribe(recording({ signal: gone.signal }))
    await eventually(() => expect(asked.filter((call) => call.startsWith('GET')).length).toBeGreaterThan(2))
    gone.abort(new Error('gone'))
    await expect(ended).rejects.toThrow()
    await eventually(() => expect(asked.at(-1)).toBe(`DELETE /v2/transcript/${ID}`))
  })
})
