import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { TranscriptFormat, TranscriptionProgress } from '../../src/speech/transcription.js'
import { failure } from '../client/ask.js'
import { answer, type Behaviour } from '../client/hostile-service.js'
import { everyCase } from '../kit/every-case.js'
import { speechPair } from './speech-pair.js'

const file = 'https://media.example/a.mp3'
const DECODING = 'event: progress\ndata: {"state":"decoding"}\n\n'
const HALF = 'event: progress\ndata: {"state":"transcribing","seconds":2.12,"duration":4,"text":"gö"}\n\n'
const RESULT = 'event: result\ndata: {"text":"gö on","duration":4}\n\n'

/** Sends events in these chunks. */
const events =
  (...chunks: (string | Buffer)[]): Behaviour =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
    for (const chunk of chunks) response.write(chunk)
    response.end()
  }

async function ask(behaviour: Behaviour, format?: TranscriptFormat) {
  const { client, service } = await speechPair(behaviour)
  const progress: TranscriptionProgress[] = []
  const transcript = client.transcribe({ file, format, onProgress: (step) => progress.push(step) })
  return { transcript: await transcript, progress, service }
}

describe('the progress of a transcription', () => {
  it('is requested as events, and reported in order, however they are cut', async () => {
    const bytes = [...Buffer.from(`${DECODING}: keep-alive\n\n${HALF}${RESULT}`)]
    const { transcript, progress, service } = await ask(events(...bytes.map((byte) => Buffer.from([byte]))))
    expect(service.calls[0]?.headers.accept).toBe('text/event-stream, application/json;q=0.9')
    expect(progress).toEqual([
      { state: 'decoding' },
      { state: 'transcribing', seconds: 2.12, durationSeconds: 4, text: 'gö' },
    ])
    expect(transcript).toEqual({ outcome: 'transcribed', text: 'gö on', durationSeconds: 4 })
  })

  it('ends with subtitles of several lines', async () => {
    const lines = ['1', '00:00:00,470 --> 00:00:02,120', 'go', '']
    const event = `event: result\n${lines.map((line) => `data: ${line}\n`).join('')}\n`
    const { transcript } = await ask(events(HALF, event), 'srt')
    expect(transcript).toEqual({ outcome: 'transcribed', text: lines.join('\n') })
  })

  it('is not reported by a service that responds without events', async () => {
    const { transcript, progress } = await ask(answer(200, { text: 'go' }))
    expect([transcript, progress]).toEqual([{ outcome: 'transcribed', text: 'go' }, []])
    // Not even where the text looks like an event.
    const text = `${HALF}go`
    const plain = await ask(answer(200, text, { 'Content-Type': 'text/plain' }), 'text')
    expect([plain.transcript, plain.progress]).toEqual([{ outcome: 'transcribed', text }, []])
  })

  it('is not asked for without onProgress', async () => {
    const { client, service } = await speechPair(answer(200, { text: 'go' }))
    await client.transcribe({ file })
    expect(service.calls[0]?.headers.accept).toBe('application/json')
  })

  it('may end with a refusal or a failure of the engine', async () => {
    const problem = (body: object) => events(DECODING, `event: problem\ndata: ${JSON.stringify(body)}\n\n`)
    const tooLong = await ask(problem({ code: 'recording_too_long', status: 422 }))
    expect(tooLong.transcript).toEqual({ outcome: 'refused', refusal: { reason: 'recording_too_long' } })
    const engine = problem({ code: 'engine_unavailable', status: 503, retry_after: 7 })
    expect(await failure(ask(engine))).toMatchObject({
      code: 'ERR_MFA_SERVICE_UNAVAILABLE',
      retryAfterSeconds: 7,
    })
  })

  it('is an error if the events are incomplete or do not fit', () =>
    everyCase(
      [
        ['break off', events(DECODING, HALF)],
        ['are none', events()],
        ['end with a problem that is none', events(DECODING, 'event: problem\ndata: oops\n\n')],
        ['never end', events(DECODING, 'x'.repeat(2_100_000))],
      ],
      async ([_what, behaviour]) => {
        expect((await failure(ask(behaviour))).code).toBe('ERR_MFA_SERVICE_ANSWER')
      },
    ))

  it('that onProgress cannot take ends the call with its error', async () => {
    const { client } = await speechPair(events(DECODING, HALF, RESULT))
    const onProgress = () => {
      throw new TypeError('of the app')
    }
    await expect(client.transcribe({ file, onProgress })).rejects.toThrow(new TypeError('of the app'))
  })
})

describe('the signal of a transcription', () => {
  it('ends the call with its reason, and the connection to the service', async () => {
    const over = new AbortController()
    const { client, service } = await speechPair((response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(DECODING)
    })
    const transcript = client.transcribe({
      file,
      signal: over.signal,
      onProgress: () => over.abort(new Error('enough')),
    })
    await expect(transcript).rejects.toThrow('enough')
    await expect.poll(() => [...service.sockets].every(({ destroyed }) => destroyed)).toBe(true)
  })

  it('is no longer listened to after the call, and ends no other call', async () => {
    const over = new AbortController()
    const { client, service } = await speechPair(answer(200, { text: 'go' }))
    await client.transcribe({ file, signal: over.signal })
    expect(getEventListeners(over.signal, 'abort')).toEqual([])
    over.abort(new Error('enough'))
    await client.transcribe({ file })
    expect(service.calls).toHaveLength(2)
  })

  it('that is aborted beforehand sends nothing', async () => {
    const { client, service } = await speechPair(answer(200, { text: 'go' }))
    const signal = AbortSignal.abort(new Error('never mind'))
    await expect(client.transcribe({ file, signal })).rejects.toThrow('never mind')
    expect(service.calls).toEqual([])
  })
})
