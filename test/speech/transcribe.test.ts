import { appendFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OptionsError } from 'countersign'
import { SERVICE_IDENTITY } from 'countersign/protocol'
import { createSpeechClient, type TranscribeRequest } from 'countersign/speech'
import { afterAll, describe, expect, it } from 'vitest'
import { API_KEY, failure } from '../client/ask.js'
import { answer, type Behaviour } from '../client/hostile-service.js'
import { everyCase } from '../kit/every-case.js'
import { temporaryFolder } from '../kit/temporary-folder.js'
import { speechPair } from './speech-pair.js'

const said = answer(200, { text: 'go forward ten meters', duration: 2.79, language: 'en' })
const address = 'https://media.example/a b.mp3?token=1&x=2'
const { path: folder, remove } = temporaryFolder()
afterAll(remove)

async function fileOf(content: string | Uint8Array, name = 'a.mp3'): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

describe('an address', () => {
  it('is sent as the form parameter file, or in JSON if the dialect says so', async () => {
    const published = await speechPair(said)
    const transcribed = {
      outcome: 'transcribed',
      text: 'go forward ten meters',
      durationSeconds: 2.79,
      language: 'en',
    }
    expect(await published.client.transcribe({ file: address })).toEqual(transcribed)
    expect(published.service.calls).toMatchObject([
      {
        method: 'POST',
        path: '/v1/transcribe',
        headers: {
          'content-type': 'application/x-www-form-urlencoded;charset=utf-8',
          authorization: `Bearer ${API_KEY}`,
        },
        body: 'file=https%3A%2F%2Fmedia.example%2Fa+b.mp3%3Ftoken%3D1%26x%3D2',
      },
    ])
    const json = await speechPair(said, {
      dialect: { contentType: 'json', paths: { transcribe: '/v2/speech' } },
    })
    await json.client.transcribe({ file: 'HTTP://media.example/a.mp3' })
    expect(json.service.calls).toMatchObject([
      { path: '/v2/speech', body: '{"file":"HTTP://media.example/a.mp3"}' },
    ])
  })
})

describe('a path', () => {
  it('is read and uploaded as the part file of a form, whatever its name', async () => {
    const { client, service } = await speechPair(said)
    await client.transcribe({ file: await fileOf('sound\r\n--x', 'a "b"\r\nX-Evil: 1.mp3') })
    const [call] = service.calls
    const boundary = /^multipart\/form-data; boundary=(countersign-\w+)$/.exec(
      call?.headers['content-type'] ?? '',
    )?.[1]
    expect(call?.body).toBe(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a %22b%22%0D%0AX-Evil: 1.mp3"\r\n` +
        `Content-Type: application/octet-stream\r\n\r\nsound\r\n--x\r\n--${boundary}--\r\n`,
    )
    expect(call?.headers['content-length']).toBe(String(call?.body.length))
    expect(call?.headers.authorization).toBe(`Bearer ${API_KEY}`)
  })

  it('can belong to an empty file or one of several megabytes', async () => {
    const { client, service } = await speechPair(said)
    await client.transcribe({ file: await fileOf('', 'empty') })
    await client.transcribe({ file: await fileOf('s'.repeat(3_000_000), 'megabytes') })
    expect(service.calls.map(({ body }) => body.length > 3_000_000)).toEqual([false, true])
  })

  it('of a file of any size is sent, because only the service knows how much it accepts', async () => {
    const { client, service } = await speechPair(said)
    const path = await fileOf('', 'large')
    await truncate(path, 26 * 1024 * 1024)
    expect(await client.transcribe({ file: path })).toMatchObject({ outcome: 'transcribed' })
    expect(service.calls[0]?.body.length).toBeGreaterThan(26 * 1024 * 1024)
  })

  it('without a file is an error', async () => {
    const { client, service } = await speechPair(said)
    for (const file of [join(folder, 'nothing'), 'file:///etc/hostname', 'ftp://media.example/a.mp3']) {
      await expect(client.transcribe({ file })).rejects.toMatchObject({ code: 'ENOENT' })
    }
    await expect(client.transcribe({ file: folder })).rejects.toThrow('must be a file')
    expect(service.calls).toEqual([])
  })

  it('can be sent again after the service refused it during the upload', async () => {
    const { client } = await speechPair(answer(413))
    const file = await fileOf('s'.repeat(1_000_000), 'refused')
    for (const _again of [1, 2]) {
      expect(await client.transcribe({ file })).toMatchObject({ refusal: { reason: 'file_too_large' } })
    }
    await appendFile(file, 'not held by anybody')
  })
})

describe('what a service answers', () => {
  const ask = async (behaviour: Behaviour) =>
    (await speechPair(behaviour)).client.transcribe({ file: address })
  const plain = { 'Content-Type': 'text/plain; charset=utf-8' }

  it('is a transcript in each form that services answer', () =>
    everyCase<[string, Behaviour, string]>(
      [
        ['JSON with more in it', answer(200, { text: ' words\n', segments: [] }), 'words'],
        ['JSON without words', answer(200, { text: '' }), ''],
        ['plain text', answer(200, 'words\n', plain), 'words'],
        ['plain text that begins as JSON does', answer(200, '[music] words', plain), '[music] words'],
        ['text without a content type', answer(200, 'words\n'), 'words'],
        ['JSON without a content type', answer(200, '{"text":"words"}'), 'words'],
      ],
      async ([_what, behaviour, text]) => {
        expect(await ask(behaviour)).toEqual({ outcome: 'transcribed', text })
      },
    ))

  it('is a refusal in each form that services answer', () =>
    everyCase<[string, Behaviour, unknown]>(
      [
        ['501', answer(501), { reason: 'transcription_unavailable' }],
        ['413', answer(413), { reason: 'file_too_large' }],
        ['415', answer(415), { reason: 'unsupported_media' }],
        ['422 address_refused', answer(422, { code: 'address_refused' }), { reason: 'address_refused' }],
        ['422 fetch_failed', answer(422, { code: 'fetch_failed' }), { reason: 'fetch_failed' }],
        [
          '422 with a detail',
          answer(422, { code: 'fetch_failed', detail: 'The host responded with 403.' }),
          { reason: 'fetch_failed', detail: 'The host responded with 403.' },
        ],
        ['415 with no text as its detail', answer(415, { detail: 7 }), { reason: 'unsupported_media' }],
        [
          '422 recording_too_long',
          answer(422, { code: 'recording_too_long' }),
          { reason: 'recording_too_long' },
        ],
        ['429', answer(429, '', { 'Retry-After': '7' }), { reason: 'busy', retryAfterSeconds: 7 }],
        ['429 without a wait', answer(429, { code: 'busy' }), { reason: 'busy', retryAfterSeconds: 60 }],
      ],
      async ([_what, behaviour, refusal]) => {
        expect(await ask(behaviour)).toEqual({ outcome: 'refused', refusal })
      },
    ))

  it('is an error when it is neither a transcript nor a refusal', () =>
    everyCase<[string, Behaviour, string]>(
      [
        ['a page', answer(200, '<p>words', { 'Content-Type': 'text/html' }), 'ERR_MFA_SERVICE_ANSWER'],
        ['no text', answer(200, { transcript: 'words' }), 'ERR_MFA_SERVICE_ANSWER'],
        ['text that is none', answer(200, { text: ['words'] }), 'ERR_MFA_SERVICE_ANSWER'],
        ['an error in disguise', answer(200, { text: 'words', error: 'no' }), 'ERR_MFA_SERVICE_ANSWER'],
        ['a page without a content type', answer(200, '<p>words'), 'ERR_MFA_SERVICE_ANSWER'],
        ['nothing', answer(200), 'ERR_MFA_SERVICE_ANSWER'],
        ['another 2xx', answer(202, { text: 'words' }), 'ERR_MFA_SERVICE_ANSWER'],
        ['a redirect', answer(302, '', { Location: '/elsewhere' }), 'ERR_MFA_SERVICE_ANSWER'],
        ['a refusal of another kind', answer(502, { code: 'delivery_failed' }), 'ERR_MFA_SERVICE_ANSWER'],
        ['more than 64 KB', answer(200, { text: 'w'.repeat(70_000) }), 'ERR_MFA_SERVICE_ANSWER'],
        ['401', answer(401), 'ERR_MFA_SERVICE_KEY'],
        ['403', answer(403), 'ERR_MFA_SERVICE_KEY'],
        ['404', answer(404), 'ERR_MFA_SERVICE_REQUEST'],
        ['500', answer(500), 'ERR_MFA_SERVICE_UNAVAILABLE'],
        ['502 engine_failed', answer(502, { code: 'engine_failed' }), 'ERR_MFA_SERVICE_UNAVAILABLE'],
        [
          '503 engine_unavailable',
          answer(503, { code: 'engine_unavailable' }),
          'ERR_MFA_SERVICE_UNAVAILABLE',
        ],
      ],
      async ([_what, behaviour, code]) => {
        expect((await failure(ask(behaviour))).code).toBe(code)
      },
    ))

  it('can take longer than a code, but not forever', async () => {
    const slowly: Behaviour = (response, call) => void setTimeout(() => said(response, call), 400)
    const { client } = await speechPair(slowly, { timeout: 100 })
    expect(await client.transcribe({ file: address })).toMatchObject({ outcome: 'transcribed' })
    const impatient = await speechPair(() => {})
    const error = await failure(impatient.client.transcribe({ file: address, timeout: 1_000 }))
    expect([error.code, error.message]).toEqual([
      'ERR_MFA_SERVICE_TIMEOUT',
      expect.stringContaining('1000 ms'),
    ])
  })
})

describe('a transcript in another format', () => {
  const ask = async (behaviour: Behaviour, format: NonNullable<TranscribeRequest['format']>) => {
    const { client, service } = await speechPair(behaviour)
    const transcript = await client.transcribe({ file: address, format })
    expect(service.calls[0]?.body).toContain(`response_format=${format}`)
    return transcript
  }
  const typed = (body: string, type: string) => answer(200, body, { 'Content-Type': type })
  const SRT = '1\r\n00:00:00,470 --> 00:00:02,120\r\ngo\r\n'
  const times = { start: 0.5, end: 2 }

  it('each format is text as the service wrote it', () =>
    everyCase<[NonNullable<TranscribeRequest['format']>, string, string]>(
      [
        ['srt', SRT, 'application/x-subrip'],
        ['srt', '', 'text/plain'],
        ['vtt', 'WEBVTT\n\n00:00:00.470 --> 00:00:02.120\ngo\n', 'text/vtt'],
        ['text', 'go', 'text/plain; charset=utf-8'],
      ],
      async ([format, body, type]) => {
        expect(await ask(typed(body, type), format)).toEqual({ outcome: 'transcribed', text: body })
      },
    ))

  it('a response in another format is an error', () =>
    everyCase<[NonNullable<TranscribeRequest['format']>, Behaviour]>(
      [
        ['srt', answer(200, { text: 'a service that ignores the format' })],
        ['srt', typed('words', 'text/plain')],
        ['vtt', typed(SRT, 'text/plain')],
        ['vtt', typed('<p>WEBVTT', 'text/html')],
      ],
      async ([format, behaviour]) => {
        expect((await failure(ask(behaviour, format))).code).toBe('ERR_MFA_SERVICE_ANSWER')
      },
    ))

  it('verbose_json has the times that the service gives, and may have 16 megabytes', async () => {
    const words = Array.from({ length: 3_000 }, () => ({ word: 'go', ...times }))
    const segments = [{ id: 0, text: 'go', ...times, confidence: 0.9, speaker: 'A' }]
    const verbose = await ask(answer(200, { text: 'go', confidence: 0.8, segments, words }), 'verbose_json')
    expect(verbose).toMatchObject({
      outcome: 'transcribed',
      text: 'go',
      confidence: 0.8,
      segments: [{ text: 'go', startSeconds: 0.5, endSeconds: 2, confidence: 0.9, speaker: 'A' }],
      words: { length: 3_000, 0: { word: 'go', startSeconds: 0.5, endSeconds: 2 } },
    })
    const without = await ask(answer(200, { text: 'go', words: [{ word: 'go' }] }), 'verbose_json')
    expect(without).toEqual({ outcome: 'transcribed', text: 'go' })
    const endless = answer(200, { text: 'w'.repeat(16 * 1024 * 1024) })
    expect((await failure(ask(endless, 'verbose_json'))).code).toBe('ERR_MFA_SERVICE_ANSWER')
  })

  it('is refused with timestamps_unavailable if the engine has no times', async () => {
    const refusal = { reason: 'timestamps_unavailable' }
    const refused = answer(422, { code: refusal.reason })
    expect(await ask(refused, 'vtt')).toEqual({ outcome: 'refused', refusal })
  })
})

describe('the client', () => {
  it('reports all faults of the address together', () => {
    const make = () => createSpeechClient({ baseUrl: 'mfa.example.com', apiKey: 'two words' })
    expect(make).toThrow(OptionsError)
    expect(make).toThrow(/baseUrl must be the address.*\n.*apiKey must be/)
  })

  it('refuses a time limit that is none, before it sends anything', async () => {
    const { client, service } = await speechPair(said, { dialect: 'countersign' })
    for (const timeout of [999, '7h', 0] as const) {
      for (const call of [client.transcribe, client.createTranscriptionJob]) {
        const error = await failure(call({ file: address, timeout }))
        expect([error.code, error.message]).toEqual([
          'ERR_MFA_OPTIONS',
          expect.stringContaining('timeout must be a time like "60s", from 1s to 6h'),
        ])
      }
    }
    expect(service.calls).toEqual([])
  })

  it('opens no stream before the service has identified itself', async () => {
    const { client, service } = await speechPair(answer(404), { dialect: undefined })
    const listen = async () => {
      const audio = (async function* () {
        yield new Uint8Array(2)
      })()
      for await (const _piece of client.transcribeLive(audio));
    }
    expect(await failure(listen())).toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE' })
    expect(service.calls.map(({ path }) => path)).toEqual([SERVICE_IDENTITY])
  })
})
