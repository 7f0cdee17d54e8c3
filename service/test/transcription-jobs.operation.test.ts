import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSpeechClient } from 'countersign/speech'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { inProcessService } from '../src/flows/in-process-service.js'
import { deleteExpired } from '../src/operator/retention.js'
import { readOptions } from '../src/run/options.js'
import {
  EngineError,
  type Recording,
  type Transcriber,
  type Transcript,
} from '../src/transcription/engines/transcriber.js'
import { type TranscriptionJobs, transcriptionJobs } from '../src/transcription/jobs/transcription-jobs.js'
import { createTranscriber } from '../src/transcription/open-transcription.js'
import { transcriptionLimits } from '../src/transcription/recording-limits.js'
import { createTranscription } from '../src/transcription/transcription.js'
import { apiOver } from './api-kit.js'
import { API_KEY, type Bench, freshTenant, listen, openBench, SECRET } from './kit.js'
import { ffmpeg, hasRealEngine } from './recordings.js'

const DEFAULTS = readOptions({ secret: SECRET, delivery: 'inbox' })
const DAY_MS = 24 * 60 * 60_000
const bearer = { authorization: `Bearer ${API_KEY}` }
const ADDRESS = 'https://media.example/a.mp3?token=of-the-caller'
const TRANSCRIPT: Transcript = {
  text: 'the words',
  language: 'en',
  segments: [{ text: 'the words', startSeconds: 0.5, endSeconds: 1 }],
}

let bench: Bench
let folder: TemporaryFolder
let tone: string
beforeAll(async () => {
  bench = await openBench()
  folder = temporaryFolder()
  tone = join(folder.path, 'tone.wav')
  await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=2:sample_rate=48000', tone)
})
afterAll(async () => {
  await bench.close()
  folder.remove()
})

/** An engine that answers as the test says. */
function engine(answer: (recording: Recording) => Promise<Transcript> = async () => TRANSCRIPT): Transcriber {
  return { name: 'fake', givesTimes: true, transcribe: answer }
}

/** An engine that answers when the recording is no longer needed, with an error. */
const endless = (heard: Recording[] = []) =>
  engine((recording) => {
    heard.push(recording)
    return new Promise((_resolve, reject) => {
      recording.signal.addEventListener('abort', () => reject(recording.signal.reason))
    })
  })

/** The parts of one process, for the store of all tests. */
function processWith(transcriber: Transcriber, maxConcurrent = 4, jobRecordingMegabytes = 30) {
  const { store, keys, log } = bench.context
  const transcription = createTranscription({
    transcriber,
    fetchOptions: { hosts: [] },
    log,
    maxConcurrent: 8,
    limits: transcriptionLimits({ ...DEFAULTS, jobRecordingMegabytes }),
  })
  const jobs = transcriptionJobs({ store, keys, log, transcription, maxConcurrent })
  onTestFinished(() => jobs.close())
  return { transcription, jobs }
}

async function serve(transcriber: Transcriber, maxConcurrent?: number) {
  const { transcription, jobs } = processWith(transcriber, maxConcurrent)
  const { application } = freshTenant(bench)
  const context = { ...bench.context, transcription, jobs }
  const server = await listen(apiOver(context, application))
  const client = createSpeechClient({ baseUrl: server.url, apiKey: API_KEY })
  onTestFinished(async () => {
    await client.close()
    await server.close()
  })
  const mfa = inProcessService(context, async () => application)
  return { url: server.url, client, jobs, application: application.id, mfa }
}

async function formWith(fields: Readonly<Record<string, string>> = {}): Promise<FormData> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([await readFile(tone)]), 'a.wav')
  return form
}

const create = async (url: string, body: FormData | URLSearchParams) =>
  fetch(`${url}/v1/transcribe/jobs`, { method: 'POST', headers: bearer, body })

async function rowsOf(id: string) {
  const [job] = await bench.store.query(
    'SELECT state, runs, retries, bytes FROM transcription_job WHERE id = $1',
    [id],
  )
  const parts = await bench.store.query('SELECT 1 FROM transcription_job_part WHERE job = $1', [id])
  return { job, parts: parts.length }
}

/** Gives an application an endpoint that asks for the events of its jobs. */
async function subscribe(application: string): Promise<void> {
  await bench.store.query('INSERT INTO application (application, created_at) VALUES ($1, 0)', [application])
  await bench.store.query(
    `INSERT INTO event_endpoint (application, id, url, types, sealed, created_at)
     VALUES ($1, 'ep', 'https://app.example', ARRAY['transcription.done', 'transcription.failed'], '', 0)`,
    [application],
  )
}

const stateOf = (jobs: TranscriptionJobs, application: string, id: string) => async () =>
  (await jobs.find(application, id))?.state

/** Moves the clock of processes that look for jobs, as if the time had passed. */
function skip(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  onTestFinished(() => void vi.useRealTimers())
}

describe.skipIf(!hasRealEngine())('a transcription job', () => {
  test('of an uploaded file is accepted at once, transcribed later, and shown to its application only', async () => {
    const { url } = await serve(engine())
    const other = await serve(engine())
    const accepted = await create(url, await formWith({ response_format: 'verbose_json' }))
    const { id, ...created } = await accepted.json()
    expect([accepted.status, accepted.headers.get('location')]).toEqual([202, `/v1/transcribe/jobs/${id}`])
    expect(created).toEqual({
      state: 'queued',
      created_at: expect.any(String),
      expires_at: new Date(Date.parse(created.created_at) + DAY_MS).toISOString(),
    })
    const show = async (at: string, method = 'GET') =>
      fetch(`${at}/v1/transcribe/jobs/${id}`, { method, headers: bearer })
    await expect.poll(async () => (await (await show(url)).json()).state).toBe('done')
    expect((await (await show(url)).json()).result).toEqual({
      text: 'the words',
      duration: 2,
      language: 'en',
      segments: [{ id: 0, start: 0.5, end: 1, text: 'the words' }],
    })
    expect(await rowsOf(id)).toMatchObject({ job: { state: 'done' }, parts: 0 })

    for (const method of ['GET', 'DELETE']) {
      const refused = await show(other.url, method)
      expect([refused.status, (await refused.json()).code]).toEqual([404, 'not_found'])
    }
    const put = await show(url, 'PUT')
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE'])
    expect((await show(url, 'DELETE')).status).toBe(204)
    expect((await show(url)).status).toBe(404)
    expect(await rowsOf(id)).toEqual({ job: undefined, parts: 0 })
  })

  test.each(['client', 'mfa'] as const)('can be created, read and deleted through %s', async (name) => {
    const service = await serve(engine())
    await subscribe(service.application)
    const mfa = service[name]
    const { createTranscriptionJob, transcriptionJob, deleteTranscriptionJob } = mfa
    if (!createTranscriptionJob || !transcriptionJob || !deleteTranscriptionJob) throw new Error('no jobs')
    const created = await createTranscriptionJob({ file: tone, format: 'srt' })
    if (created.outcome !== 'created') throw new Error(created.refusal.reason)
    const { id, createdAt } = created.job
    expect(created.job).toEqual({ id, state: 'queued', createdAt, expiresAt: createdAt + DAY_MS })
    await expect.poll(async () => (await transcriptionJob(id))?.state).toBe('done')
    expect((await transcriptionJob(id))?.transcript).toMatchObject({
      outcome: 'transcribed',
      text: '1\n00:00:00,500 --> 00:00:01,000\nthe words\n',
    })
    expect(await deleteTranscriptionJob(id)).toBe(true)
    expect([await deleteTranscriptionJob(id), await transcriptionJob(id)]).toEqual([false, undefined])

    const refused = await createTranscriptionJob({ file: 'https://127.0.0.1/a.mp3' })
    const failed = refused.outcome === 'created' ? refused.job.id : ''
    await expect.poll(async () => (await transcriptionJob(failed))?.state).toBe('failed')
    expect(await transcriptionJob(failed)).toMatchObject({ failure: 'address_refused' })
    const events = await bench.store.query(
      'SELECT type, data FROM event_delivery WHERE application = $1 ORDER BY created_at, id',
      [service.application],
    )
    expect(events).toEqual([
      { type: 'transcription.done', data: { job: { id } } },
      { type: 'transcription.failed', data: { job: { id: failed, problem: 'address_refused' } } },
    ])
    expect(await transcriptionJob('tj_unknown')).toBeUndefined()

    const film = join(folder.path, 'film.mp4')
    await ffmpeg('-f', 'lavfi', '-i', 'color=size=16x16:duration=1:r=5', film)
    const silent = await createTranscriptionJob({ file: film })
    const { id: second } = silent.outcome === 'created' ? silent.job : { id: '' }
    await expect.poll(async () => (await transcriptionJob(second))?.state).toBe('failed')
    expect(await transcriptionJob(second)).toMatchObject({
      failure: 'unsupported_media',
      failureDetail: 'The file contains no sound.',
    })
    const [last] = await bench.store.query(
      'SELECT data FROM event_delivery WHERE application = $1 ORDER BY created_at DESC, id DESC LIMIT 1',
      [service.application],
    )
    expect(last).toEqual({ data: { job: { id: second, problem: 'unsupported_media' } } })
  })

  test('that cannot be used is refused before it is created', async () => {
    const { url } = await serve(engine(), 0)
    const invalid = await create(url, await formWith({ response_format: 'docx' }))
    expect([invalid.status, (await invalid.json()).errors[0].field]).toEqual([400, 'response_format'])
    const path = await create(url, new URLSearchParams({ file: '/etc/passwd' }))
    expect([path.status, (await path.json()).code]).toEqual([422, 'address_refused'])
    const large = new FormData()
    large.set('file', new Blob([new Uint8Array(30 * 1024 * 1024 + 1)]))
    const refused = await create(url, large)
    expect([refused.status, (await refused.json()).code]).toEqual([413, 'file_too_large'])
    const server = await listen(apiOver(bench.context, freshTenant(bench).application))
    onTestFinished(() => server.close())
    for (const body of [await formWith(), new URLSearchParams({ file: ADDRESS })]) {
      expect((await create(server.url, body)).status).toBe(501)
    }
    expect(await bench.store.query("SELECT 1 FROM transcription_job WHERE state = 'queued'")).toEqual([])
  })

  test('is stored encrypted: neither the recording nor its address can be read', async () => {
    const { jobs, application } = await serve(engine(), 0)
    const secret = join(folder.path, 'secret.wav')
    await writeFile(secret, 'spoken in confidence '.repeat(5_000))
    const stored = await jobs.create(application, { path: secret }, {})
    const fetched = await jobs.create(application, { address: ADDRESS }, { prompt: 'in confidence' })
    expect(await rowsOf(stored?.id ?? '')).toMatchObject({ job: { bytes: 105_000 }, parts: 7 })
    const rows = await bench.store.query(
      `SELECT t::text || coalesce(encode(content, 'escape'), '') AS text
       FROM transcription_job AS t LEFT JOIN transcription_job_part ON job = id WHERE application = $1`,
      [application],
    )
    expect(rows).toHaveLength(8)
    expect(JSON.stringify(rows)).not.toMatch(/confidence|media\.example|of-the-caller/)
    await jobs.remove(application, stored?.id ?? '')
    await jobs.remove(application, fetched?.id ?? '')
  })

  test('whose process died is run by another one, once, and only one result counts', async () => {
    const heard: Recording[] = []
    const first = processWith(endless(heard))
    const application = freshTenant(bench).application.id
    const job = await first.jobs.create(application, { path: tone }, {})
    const id = job?.id ?? ''
    await expect.poll(() => heard.length).toBe(1)
    const second = processWith(endless(heard))
    skip(31_000)
    const third = () => processWith(engine()).jobs
    // It looks for jobs when it starts, and finds one without a sign of life.
    const next = processWith(endless(heard))
    await expect.poll(() => heard.length).toBe(2)
    expect(await rowsOf(id)).toMatchObject({ job: { state: 'running', runs: 2 } })
    vi.setSystemTime(Date.now() + 31_000)
    await expect.poll(stateOf(third(), application, id)).toBe('failed')
    expect(await next.jobs.find(application, id)).toMatchObject({ problem: 'internal_error' })
    await Promise.all([first.jobs.close(), second.jobs.close(), next.jobs.close()])
    expect(await rowsOf(id)).toMatchObject({ job: { state: 'failed' }, parts: 0 })
  })

  test('is put back when the service stops, and done by the next process', async () => {
    const heard: Recording[] = []
    const { jobs } = processWith(endless(heard))
    const application = freshTenant(bench).application.id
    const id = (await jobs.create(application, { path: tone }, {}))?.id ?? ''
    await expect.poll(() => heard.length).toBe(1)
    expect(await jobs.find(application, id)).toMatchObject({ state: 'running' })
    await jobs.close()
    expect(heard[0]?.signal.aborted).toBe(true)
    expect(await rowsOf(id)).toMatchObject({ job: { state: 'queued', runs: 0, retries: 0 } })
    await expect.poll(stateOf(processWith(engine()).jobs, application, id)).toBe('done')
  })

  test('waits while its engine is unavailable, and fails when the engine refuses it', async () => {
    const answers: Error[] = [
      new EngineError('engine_unavailable', 'busy', { retryAfterSeconds: 7 }),
      new EngineError('engine_failed', 'no such model'),
    ]
    const transcriber = engine(() => Promise.reject(answers.shift() ?? new Error('once too often')))
    const { jobs } = processWith(transcriber)
    const application = freshTenant(bench).application.id
    const id = (await jobs.create(application, { path: tone }, {}))?.id ?? ''
    await expect
      .poll(async () => (await rowsOf(id)).job)
      .toMatchObject({ state: 'queued', retries: 1, runs: 0 })
    expect(answers).toHaveLength(1)
    skip(7_000)
    // Another job makes the process look.
    await jobs.create(application, { address: 'https://127.0.0.1/' }, {})
    await expect.poll(stateOf(jobs, application, id)).toBe('failed')
    expect(await jobs.find(application, id)).toMatchObject({ problem: 'engine_failed' })
  })

  test('that a transcription server refuses says in which part, and for which reason', async () => {
    const message = 'Maximum content size limit (26214400) exceeded (26228297 bytes read)'
    let requests = 0
    const server = await listen((request, response) => {
      request.resume().on('end', () => {
        requests += 1
        response.writeHead(requests === 1 ? 200 : 413, { 'content-type': 'application/json' })
        response.end(JSON.stringify(requests === 1 ? { text: 'the words' } : { error: { message } }))
      })
    })
    const long = join(folder.path, 'long.wav')
    await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=60:sample_rate=8000', long)
    const { transcriber } = readOptions({
      secret: SECRET,
      delivery: 'inbox',
      transcriber: `${server.url}?upload_megabytes=1`,
    })
    const { client, url } = await serve(createTranscriber(transcriber, undefined) ?? engine())
    onTestFinished(() => server.close())
    const created = await client.createTranscriptionJob({ file: long })
    const { id } = created.outcome === 'created' ? created.job : { id: '' }
    await expect.poll(async () => (await client.transcriptionJob(id))?.state).toBe('failed')
    const detail = `Part 2 of 3: The transcription server responded with 413: ${message}`
    expect(await client.transcriptionJob(id)).toMatchObject({
      failure: 'engine_failed',
      failureDetail: detail,
    })
    const shown = await fetch(`${url}/v1/transcribe/jobs/${id}`, { headers: bearer })
    expect((await shown.json()).problem).toMatchObject({ code: 'engine_failed', detail })
  })

  test('ends at once when it is deleted', async () => {
    const heard: Recording[] = []
    const { jobs } = processWith(endless(heard))
    const application = freshTenant(bench).application.id
    const id = (await jobs.create(application, { path: tone }, {}))?.id ?? ''
    await expect.poll(() => heard.length).toBe(1)
    expect(await jobs.remove(application, id)).toBe(true)
    await expect.poll(() => heard[0]?.signal.aborted).toBe(true)
    expect(await rowsOf(id)).toEqual({ job: undefined, parts: 0 })
  })

  test('is deleted a day later, with its recording', async () => {
    const { jobs } = processWith(engine(), 0)
    const application = freshTenant(bench).application.id
    const id = (await jobs.create(application, { path: tone }, {}))?.id ?? ''
    skip(DAY_MS - 1_000)
    await deleteExpired(bench.store)
    expect(await jobs.find(application, id)).toMatchObject({ state: 'queued' })
    vi.setSystemTime(Date.now() + 1_000)
    expect(await jobs.find(application, id)).toBeUndefined()
    await deleteExpired(bench.store)
    expect(await rowsOf(id)).toEqual({ job: undefined, parts: 0 })
  })

  test('is one of at most 100 unfinished ones of an application', async () => {
    const { jobs, client, url, application } = await serve(engine(), 0)
    for (let count = 0; count < 100; count++) await jobs.create(application, { address: ADDRESS }, {})
    expect(await jobs.create(application, { address: ADDRESS }, {})).toBeUndefined()
    const refused = await create(url, await formWith())
    expect([refused.status, refused.headers.get('retry-after'), (await refused.json()).code]).toEqual([
      429,
      '60',
      'too_many_jobs',
    ])
    expect(await client.createTranscriptionJob({ file: tone })).toEqual({
      outcome: 'refused',
      refusal: { reason: 'too_many_jobs', retryAfterSeconds: 60 },
    })
    const other = freshTenant(bench).application.id
    expect(await jobs.hasRoom(other)).toBe(true)
    await bench.store.query('DELETE FROM transcription_job WHERE application = $1', [application])
  })
})
