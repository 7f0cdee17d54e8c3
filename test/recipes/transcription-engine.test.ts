import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ffmpeg } from '../../service/test/recordings.js'
import { runCommand } from '../../src/cli/main.js'
import { missing } from '../kit/debian-packages.js'
import { listenOnLoopback } from '../kit/loopback.js'
import type { RunningProcess } from '../kit/process.js'
import { temporaryFolder } from '../kit/temporary-folder.js'
import { ATTACKS_EVERY_RECIPE } from './attack.js'
import { openRecipe, type Recipe } from './kit.js'

const API_KEY = 'a-test-key-of-at-least-32-characters'
const UTTERANCE = { start: 0.5, end: 2, confidence: 0.75, transcript: 'Go forward.' }
const HEARD = {
  results: {
    channels: [{ detected_language: 'en', alternatives: [{ transcript: 'Go forward.' }] }],
    utterances: [UTTERANCE],
  },
}

describe.skipIf(missing('ffmpeg') !== undefined)('the recipe "transcription engine"', () => {
  const { path: folder, remove } = temporaryFolder()
  const recording = join(folder, 'speech.ogg')
  let recipe: Recipe
  let service: RunningProcess
  const asked: { query: Record<string, string>; key: string | undefined; sound: string }[] = []
  let answer: { status: number; body: unknown } = { status: 200, body: HEARD }
  // The parameters and members of Deepgram's reference, POST /v1/listen.
  const engine = createServer(async (call: IncomingMessage, response) => {
    const sound = (await buffer(call)).subarray(0, 4).toString()
    const { searchParams } = new URL(call.url ?? '', 'http://engine')
    asked.push({ query: Object.fromEntries(searchParams), key: call.headers.authorization, sound })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })

  beforeAll(async () => {
    await ffmpeg('-f', 'lavfi', '-i', 'sine=d=2', recording)
    const port = await listenOnLoopback(engine)
    recipe = await openRecipe('transcription-engine')
    service = await recipe.start('server.js', {
      SERVICE_SECRET: 'a test secret of at least 32 characters',
      SERVICE_API_KEY: API_KEY,
      DEEPGRAM_URL: `http://127.0.0.1:${port}/v1/listen`,
      DEEPGRAM_API_KEY: 'key-of-the-engine',
    })
  })

  afterAll(async () => {
    await recipe?.dispose()
    engine.closeAllConnections()
    engine.close()
    remove()
  })

  async function transcribe(fields: Readonly<Record<string, string>> = {}) {
    const call = request(service.url).post('/v1/transcribe').auth(API_KEY, { type: 'bearer' })
    return call.field(fields).attach('file', recording)
  }

  it('gives the text and the times of the engine, in every format', async () => {
    expect((await transcribe()).body).toMatchObject({ text: 'Go forward.', language: 'en' })
    expect((await transcribe({ response_format: 'srt', language: 'en' })).text).toBe(
      '1\n00:00:00,500 --> 00:00:02,000\nGo forward.\n',
    )
    expect(asked).toEqual([
      { query: { model: 'nova-3', detect_language: 'true' }, key: 'Token key-of-the-engine', sound: 'RIFF' },
      {
        query: { model: 'nova-3', language: 'en', utterances: 'true' },
        key: 'Token key-of-the-engine',
        sound: 'RIFF',
      },
    ])
  })

  // It has no users who sign in, so `countersign attack` has nothing to attack.
  it.runIf(ATTACKS_EVERY_RECIPE)('keeps what every MFA service must, when it is attacked', async () => {
    const printed: string[] = []
    const code = await runCommand(['contract', '--base-url', service.url], {
      env: { MFA_API_KEY: API_KEY },
      stdin: async () => '',
      out: (text) => void printed.push(text),
      err: (text) => void printed.push(text),
    })
    expect(printed.join('\n')).toContain('No defect found.')
    expect(code).toBe(0)
  })

  it('says why the engine gave no text', async () => {
    const codes: string[] = []
    for (const [status, body] of [
      [400, { err_msg: 'Bad Request: No such model/language/tier combination found.' }],
      [401, {}],
      [503, {}],
      [200, {}],
    ] as const) {
      answer = { status, body }
      codes.push((await transcribe({ language: 'tlh' })).body.code)
    }
    expect(codes).toEqual(['language_unavailable', 'engine_failed', 'engine_unavailable', 'engine_failed'])
  })
})
