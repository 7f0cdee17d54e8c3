import { existsSync, openAsBlob } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { migrate } from '../src/store/migrate.js'
import { postgresStore } from '../src/store/postgres-store.js'
import { API_KEY, eventually, listen, SECRET } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'
import { MAIN, type Running, start, startListening } from './processes.js'
import { ffmpeg } from './recordings.js'

/** The built process that `npm run service` starts. */
describe('the process', () => {
  const { path: folder, remove } = temporaryFolder()
  const env = { DATA_DIR: folder, SERVICE_API_KEY: API_KEY }
  const running: Running[] = []
  const run = async (more = {}) => {
    const one = await startListening({ ...env, ...more })
    running.push(one)
    return one
  }
  beforeAll(() => {
    if (!existsSync(MAIN)) throw new Error('The service is not built: run npm run build first.')
  })
  afterAll(async () => {
    for (const { child, ended } of running) {
      child.kill('SIGKILL')
      await ended
    }
    remove()
  })

  const post = async (url: string, path: string, parameters: Record<string, string>) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: new URLSearchParams(parameters),
    })

  test('refuses arguments, so that nobody takes a start for another command', async () => {
    const { ended, output } = start(env, undefined, ['migrate'])
    expect(await ended).toBe(1)
    expect(output()).toContain(
      'takes no arguments (got migrate). For commands, run: countersign-service migrate',
    )
  })

  test('says how to switch on the console that is off, with its whole address', async () => {
    const own = temporaryFolder()
    onTestFinished(own.remove)
    const { url, output } = await run({ DATA_DIR: own.path })
    const hint = `The console is off. SERVICE_CONSOLE=true opens it at ${url}/console`
    await eventually(() => expect(output()).toContain(hint))
  })

  // The build has a copy of zod, of which the document's schemas are made.
  test('serves the OpenAPI document of the package', async () => {
    const own = temporaryFolder()
    onTestFinished(own.remove)
    const { url } = await run({ DATA_DIR: own.path })
    const published = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8'))
    expect(await (await fetch(`${url}/openapi.json`)).json()).toEqual(published)
  })

  test('refuses a folder in use, keeps counters and codes through kill -9, and stops on a signal (R28)', async () => {
    const User = '+447700900777'
    const first = await run()
    await post(first.url, '/v1/mfa', { User, Type: 'SMS' })
    const inbox = await fetch(`${first.url}/v1/test/inbox`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const { messages } = (await inbox.json()) as { messages: { text: string }[] }
    const Code = /\d{6}/.exec(messages[0]?.text ?? '')?.[0] ?? ''
    for (let i = 0; i < 4; i++) {
      await post(first.url, '/v1/mfa/verify', {
        User,
        Type: 'PHONE',
        Code: Code === '000000' ? '111111' : '000000',
      })
    }

    const second = start(env)
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain(`is in use by process ${first.child.pid}`)

    first.child.kill('SIGKILL')
    const third = await run()
    expect((await post(third.url, '/v1/mfa/verify', { User, Type: 'PHONE', Code })).status).toBe(200)
    expect((await post(third.url, '/v1/mfa/verify', { User, Type: 'PHONE', Code })).status).toBe(401)
    third.child.kill('SIGTERM')
    expect(await third.ended).toBe(0)
    expect(third.output()).not.toContain(Code)
    expect(existsSync(join(folder, 'lock'))).toBe(false)

    const other = start({ ...env, SERVICE_SECRET: 'another secret than the one this was made with' })
    expect(await other.ended).toBe(1)
    expect(other.output()).toContain('SERVICE_SECRET')
  })

  test.skipIf(postgresMissing)(
    'runs on with the tables of an older database where they are, and makes those of a new one in the schema mfa (R148)',
    async () => {
      const server = await startPostgres()
      onTestFinished(server.stop)
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      onTestFinished(() => client.end())
      const schemasAfterStart = async () => {
        const one = await run({ DATABASE_URL: server.url, SERVICE_SECRET: SECRET, SERVICE_DELIVERY: 'inbox' })
        const sent = await post(one.url, '/v1/mfa', { User: '+447700900776', Type: 'SMS' })
        one.child.kill('SIGTERM')
        expect([sent.status, await one.ended]).toEqual([200, 0])
        const { rows } = await client.query<{ name: string }>(
          "SELECT schemaname AS name FROM pg_tables WHERE tablename = 'challenge'",
        )
        return rows.map(({ name }) => name)
      }
      expect(await schemasAfterStart()).toEqual(['mfa'])
      await client.query('DROP SCHEMA mfa CASCADE')
      const store = postgresStore(server.url, {}, 'public')
      await migrate(store)
      await store.close()
      expect(await schemasAfterStart()).toEqual(['public'])
      expect((await client.query('SELECT FROM public.challenge')).rowCount).toBe(1)
    },
    120_000,
  )

  test('finishes a transcription job after kill -9, with the recording that was uploaded to the first process', async () => {
    let isHanging = true
    const sounds: number[] = []
    const engine = await listen((request, response) => {
      let length = 0
      request.on('data', (chunk: Buffer) => {
        length += chunk.length
      })
      request.on('end', () => {
        sounds.push(length)
        if (isHanging) return
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify({ text: 'the words', segments: [] }))
      })
    })
    const recording = join(folder, 'tone.wav')
    await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=2', recording)
    const withEngine = { DATA_DIR: join(folder, 'jobs'), SERVICE_TRANSCRIBER: `${engine.url}?model=one` }
    const headers = { authorization: `Bearer ${API_KEY}` }
    const first = await run(withEngine)
    const body = new FormData()
    body.set('file', await openAsBlob(recording), 'tone.wav')
    const created = await fetch(`${first.url}/v1/transcribe/jobs`, { method: 'POST', headers, body })
    expect(created.status).toBe(202)
    const location = new URL(created.headers.get('location') ?? '', first.url).pathname
    await eventually(() => expect(sounds).toHaveLength(1))

    first.child.kill('SIGKILL')
    await first.ended
    isHanging = false
    const second = await run(withEngine)
    const job = async () => (await fetch(second.url + location, { headers })).json()
    // The lease of a process that died lasts 30 seconds.
    await expect
      .poll(job, { timeout: 110_000, interval: 500 })
      .toMatchObject({ state: 'done', result: { text: 'the words' } })
    expect(sounds).toEqual([sounds[0], sounds[0]])
    await engine.close()
  }, 120_000)

  test('becomes not ready, answers requests in progress, and exits on a signal', async () => {
    // With a slow carrier, a send is in progress when the signal arrives.
    const taken: ServerResponse[] = []
    const carrier = await listen((request, response) => {
      request.resume()
      taken.push(response)
    })
    const one = await run({
      DATA_DIR: join(folder, 'draining'),
      SERVICE_DELIVERY: carrier.url,
      SERVICE_DRAIN_DURATION: '60s',
    })
    const answer = post(one.url, '/v1/mfa', { User: '+447700900778', Type: 'SMS' })
    await eventually(() => expect(taken).toHaveLength(1))
    one.child.kill('SIGTERM')
    await eventually(async () => expect((await fetch(`${one.url}/readyz`)).status).toBe(503))
    expect((await fetch(`${one.url}/healthz`)).status).toBe(200)
    one.child.kill('SIGTERM')
    taken[0]?.end()
    expect((await answer).status).toBe(200)
    expect(await one.ended).toBe(0)
    await carrier.close()
  }, 60_000)

  test('logs what it started with, and only events of the chosen level', async () => {
    const env = {
      DATA_DIR: join(folder, 'started'),
      SERVICE_DELIVERY: 'email=smtp://127.0.0.1:1?from=a@b.example,*=inbox',
    }
    const one = await run({ ...env, SERVICE_CONSOLE: 'true', SERVICE_CONSOLE_PORT: '0' })
    expect(one.output()).toContain('(from this machine only; SERVICE_HOST=0.0.0.0 opens it to others)')
    // Mail is sent.
    await eventually(() =>
      expect(one.output()).toContain('The inbox keeps the messages by sms, whatsapp, call: '),
    )
    expect(one.output()).not.toContain('not sent')
    await eventually(() => expect(one.log()).toContain('\n'))
    expect(JSON.parse(one.log().split('\n')[0] ?? '')).toMatchObject({
      level: 'info',
      event: 'service.started',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      address: `127.0.0.1:${new URL(one.url).port}`,
      store: 'pglite',
      carriers: 'email=smtp, sms=inbox, whatsapp=inbox, call=inbox',
    })
    // The console has an address of its own, which the API does not share.
    const [, ownConsole = ''] = /The console is at (http:\S+)\/console/.exec(one.output()) ?? []
    expect((await fetch(`${ownConsole}/console/sign-in`)).status).toBe(200)
    expect((await fetch(`${ownConsole}/healthz`)).status).toBe(404)
    expect((await fetch(`${one.url}/console/sign-in`)).status).toBe(404)
    one.child.kill('SIGTERM')
    await one.ended
    const quiet = await run({ ...env, SERVICE_LOG_LEVEL: 'error', SERVICE_CONSOLE: 'true' })
    expect((await fetch(`${quiet.url}/console/sign-in`)).status).toBe(200)
    expect((await fetch(`${quiet.url}/consoles`)).status).toBe(404)
    await post(quiet.url, '/v1/mfa', { User: '+447700900779', Type: 'SMS' })
    expect(quiet.log()).not.toContain('info')
  })

  test('does not start in production with missing variables, and lists them in one message', async () => {
    const { ended, output } = start({ ...env, NODE_ENV: 'production' })
    expect(await ended).toBe(1)
    expect(output()).toContain('SERVICE_SECRET is missing')
    expect(output()).toContain('SERVICE_DELIVERY is missing')
    expect(output()).not.toContain('at ')
  })
})
