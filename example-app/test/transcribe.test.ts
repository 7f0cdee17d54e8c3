import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { ServiceError } from 'countersign'
import {
  type TranscribeAnswer,
  type TranscribeRequest,
  TranscriptionError,
  type TranscriptionService,
} from 'countersign/speech'
import supertest from 'supertest'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, SECOND, stopClock } from '../../test/kit/clock.js'
import { everyCase } from '../../test/kit/every-case.js'
import { createApp } from '../src/app.js'
import { type Browser, openTestVault, signIn, type TestVault } from './kit.js'

/** The requests that the service received, and its response. */
let received: { file: string; content: string | undefined }[] = []
let answer: TranscribeAnswer
let reported: Parameters<NonNullable<TranscribeRequest['onProgress']>>[0][] = []
let failure: Error | undefined
let issueTicket: NonNullable<TranscriptionService['createStreamTicket']>

let vault: TestVault
let app: ReturnType<typeof createApp>
let nina: Browser
beforeAll(async () => {
  vault = await openTestVault()
  const transcriber = {
    async transcribe({ file, onProgress }: TranscribeRequest) {
      received.push({ file, content: existsSync(file) ? readFileSync(file, 'utf8') : undefined })
      for (const progress of reported) onProgress?.(progress)
      if (failure) throw failure
      return answer
    },
    createStreamTicket: () => issueTicket(),
  }
  app = createApp({ ...vault.context, transcriber })
  nina = supertest.agent(app).accept('application/json')
  await signIn(nina, 'nina').then(({ status }) => expect(status).toBe(200))
})
beforeEach(() => {
  received = []
  reported = []
  failure = undefined
  answer = { outcome: 'transcribed', text: 'go forward <b>ten</b> meters', durationSeconds: 2.79 }
  issueTicket = async () => ({ ticket: 'a-ticket', expiresInSeconds: 60 })
})
afterAll(() => vault.close())

const asPage = (request: supertest.Test) => request.accept('text/html')

describe('the page for recordings', () => {
  it('requires a sign-in', async () => {
    const signedOut = () => supertest(app)
    await asPage(signedOut().get('/transcribe')).expect(303).expect('location', '/login')
    const refused = signedOut()
      .post('/transcribe')
      .accept('json')
      .attach('recording', Buffer.from('sound'), 'a.mp3')
    expect((await refused.expect(401)).body.code).toBe('sign_in_required')
    expect(received).toEqual([])
  })

  it('has a form that works without scripts, and allows only our own script', async () => {
    const page = await asPage(nina.get('/transcribe')).expect(200)
    expect(page.text).toContain('<form method="post" action="/transcribe" enctype="multipart/form-data"')
    expect(page.headers['content-security-policy']).toMatch(
      /default-src 'none'.*script-src 'self'; connect-src 'self' ws:\/\/127\.0\.0\.1:\d+$/,
    )
    const script = await nina.get('/transcribe.js').expect(200)
    expect(script.type).toContain('javascript')
    const elsewhere = await asPage(nina.get('/account'))
    expect(elsewhere.headers['content-security-policy']).not.toContain('script-src')
  })

  it('is linked on the home page', async () => {
    expect((await asPage(nina.get('/'))).text).toContain('href="/transcribe"')
  })
})

describe('a recording', () => {
  it('can be an uploaded file, which is deleted afterward', async () => {
    const upload = nina
      .post('/transcribe')
      .field('file', '')
      .attach('recording', Buffer.from('sound'), '../a b.MP3')
    await upload.expect(200, { text: 'go forward <b>ten</b> meters', durationSeconds: 2.79 })
    expect(received.map(({ file, content }) => [basename(file), content])).toEqual([
      ['recording.mp3', 'sound'],
    ])
    expect(existsSync(received[0]?.file ?? '')).toBe(false)
  })

  it('can be an address, in a form with or without a file field, and in JSON', async () => {
    const file = 'https://media.example/a.mp3?token=1'
    await nina.post('/transcribe').send({ file }).expect(200)
    await nina.post('/transcribe').type('form').send({ file }).expect(200)
    await nina.post('/transcribe').field('file', file).attach('recording', Buffer.from(''), '').expect(200)
    expect(received).toEqual([1, 2, 3].map(() => ({ file, content: undefined })))
  })

  describe('for a script that asks for events', () => {
    const file = 'https://media.example/a.mp3'
    const decoding = { state: 'decoding' } as const
    const asEvents = () => nina.post('/transcribe').accept('text/event-stream, application/json;q=0.9')
    const eventsOf = (text: string) =>
      [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name, data = '']) => [
        name,
        JSON.parse(data),
      ])

    it('leads to the progress, then to the transcript', async () => {
      const transcribing = { state: 'transcribing', seconds: 2, durationSeconds: 2.79, text: 'go' } as const
      reported = [decoding, transcribing]
      const response = await asEvents().send({ file }).expect(200).expect('content-type', 'text/event-stream')
      expect(eventsOf(response.text)).toEqual([
        ['progress', decoding],
        ['progress', transcribing],
        ['transcript', { text: 'go forward <b>ten</b> meters', durationSeconds: 2.79 }],
      ])
    })

    it('leads to a problem, as the last event once there were others', async () => {
      answer = { outcome: 'refused', refusal: { reason: 'file_too_large' } }
      expect((await asEvents().send({ file }).expect(413)).body.code).toBe('file_too_large')
      reported = [decoding]
      const refused = await asEvents().send({ file }).expect(200)
      expect(eventsOf(refused.text).at(-1)).toMatchObject([
        'problem',
        { code: 'file_too_large', status: 413 },
      ])
      failure = new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'down')
      const failed = await asEvents().send({ file }).expect(200)
      expect(eventsOf(failed.text).at(-1)).toMatchObject(['problem', { code: 'service_unavailable' }])
    })
  })

  it('is shown as text in a page', async () => {
    const page = await asPage(nina.post('/transcribe'))
      .attach('recording', Buffer.from('sound'), 'a.mp3')
      .expect(200)
    expect(page.text).toContain('go forward &lt;b&gt;ten&lt;/b&gt; meters')
  })

  it('without words is a result, and not a problem', async () => {
    answer = { outcome: 'transcribed', text: '', durationSeconds: 2 }
    const file = 'https://media.example/silence.mp3'
    await nina.post('/transcribe').send({ file }).expect(200, { text: '', durationSeconds: 2 })
    const page = await asPage(nina.post('/transcribe')).field('file', file).expect(200)
    expect(page.text).toContain('No words were recognized.')
  })

  it('is never read from a path or address on this machine', () =>
    everyCase(
      [
        '/etc/passwd',
        'file:///etc/passwd',
        'http:../../etc/passwd',
        'https:/etc/passwd',
        'http:///etc/passwd',
        'data:audio/wav;base64,AAAA',
        'a.mp3',
        'https://a b',
        '',
      ],
      async (file) => {
        for (const request of [
          nina.post('/transcribe').send({ file }),
          nina.post('/transcribe').type('form').send({ file }),
          nina.post('/transcribe').field('file', file),
        ]) {
          expect((await request.expect(400)).body.code).toBe('invalid_request')
        }
        expect(received).toEqual([])
      },
    ))

  it('cannot be anything else', () =>
    everyCase(
      [{ file: ['https://a.example'] }, { file: { path: '/etc/passwd' } }, { file: 7 }, {}],
      async (body) => {
        expect((await nina.post('/transcribe').send(body).expect(400)).body.code).toBe('invalid_request')
      },
    ))

  it('is refused over 25 MB or in a malformed form', async () => {
    const large = nina.post('/transcribe').attach('recording', Buffer.alloc(25 * 1024 * 1024 + 1), 'a.wav')
    expect((await large.expect(413)).body.code).toBe('file_too_large')
    const broken = nina
      .post('/transcribe')
      .set('content-type', 'multipart/form-data; boundary=x')
      .send('--x\r\nCo')
    expect((await broken.expect(400)).body.code).toBe('invalid_request')
    expect(received).toEqual([])
  })

  it('is refused from another site', async () => {
    const request = nina
      .post('/transcribe')
      .set('sec-fetch-site', 'cross-site')
      .send({ file: 'https://a.example' })
    expect((await request.expect(403)).body.code).toBe('cross_site')
  })

  it('that the service refuses leads to an explanation on the page and in JSON', () =>
    everyCase(
      [
        [{ reason: 'transcription_unavailable' }, 501],
        [{ reason: 'busy', retryAfterSeconds: 10 }, 429],
        [{ reason: 'address_refused' }, 422],
        [{ reason: 'fetch_failed' }, 422],
        [{ reason: 'unsupported_media' }, 415],
      ] as const,
      async ([refusal, status]) => {
        answer = { outcome: 'refused', refusal }
        const refused = await nina
          .post('/transcribe')
          .send({ file: 'https://media.example/a.mp3' })
          .expect(status)
        expect(refused.body).toMatchObject({
          code: refusal.reason,
          title: expect.any(String),
          detail: expect.any(String),
        })
        if (refusal.reason === 'busy') expect(refused.headers['retry-after']).toBe('10')
        const page = asPage(nina.post('/transcribe')).field('file', 'https://media.example/a.mp3')
        expect((await page.expect(status)).text).toContain('<div class="callout message error" role="alert">')
      },
    ))
})

describe('a ticket for live speech', () => {
  it('is issued to a signed-in user, with the address of the stream', async () => {
    await nina.post('/transcribe/ticket').expect(200, { ticket: 'a-ticket', url: '/v1/transcribe/stream' })
    const refused = await supertest(app).post('/transcribe/ticket').accept('json').expect(401)
    expect(refused.body.code).toBe('sign_in_required')
    const elsewhere = await nina.post('/transcribe/ticket').set('sec-fetch-site', 'cross-site').expect(403)
    expect(elsewhere.body.code).toBe('cross_site')
  })

  it('is issued six times a minute to one user, in all processes together', async () => {
    const clock = stopClock()
    const otherProcess = createApp({
      ...vault.context,
      transcriber: { ...vault.context.transcriber, createStreamTicket: () => issueTicket() },
    })
    let issued = 0
    issueTicket = async () => ({ ticket: `ticket-${++issued}`, expiresInSeconds: 60 })
    const signedIn = async (at: typeof app, name: string) => {
      const browser = supertest.agent(at).accept('application/json')
      expect((await signIn(browser, name)).body.status).toBe('signed_in')
      return browser
    }
    clock.move(MINUTE)
    const browsers = [nina, await signedIn(app, 'nina'), await signedIn(otherProcess, 'nina')]
    const answers = await Promise.all(
      [...browsers, ...browsers, ...browsers].map((browser) => browser.post('/transcribe/ticket')),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(6).fill(200), 429, 429, 429])
    expect(issued).toBe(6)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body.code).toBe('too_many_attempts')
    expect(refused?.headers['retry-after']).toBe('60')

    const pending = supertest.agent(app).accept('application/json')
    expect((await signIn(pending, 'bob')).body.status).toBe('mfa_required')
    await pending.post('/transcribe/ticket').expect(401)

    clock.move(MINUTE - SECOND)
    const last = await nina.post('/transcribe/ticket').expect(429)
    expect(last.headers['retry-after']).toBe('1')
    clock.move(SECOND)
    await nina.post('/transcribe/ticket').expect(200)
    expect(issued).toBe(7)
  })

  it('leads to an external service, to which the page may connect', async () => {
    const external = createApp({ ...vault.context, streamOrigin: 'wss://mfa.example' })
    const bob = supertest.agent(external).accept('application/json')
    await signIn(bob, 'nina')
    const page = await asPage(bob.get('/transcribe'))
    expect(page.headers['content-security-policy']).toMatch(/connect-src 'self' wss:\/\/mfa\.example$/)
  })

  it('is explained when the service has no engine', async () => {
    issueTicket = () => Promise.reject(new TranscriptionError('transcription_unavailable', 'no engine'))
    const { body } = await nina.post('/transcribe/ticket').expect(501)
    expect(body).toMatchObject({
      code: 'transcription_unavailable',
      detail: expect.stringContaining('recording'),
    })
  })
})
