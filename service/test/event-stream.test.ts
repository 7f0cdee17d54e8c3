import express from 'express'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PATIENCE_MS } from '../../test/kit/patience.js'
import { type EventStream, eventStream, findEventStream, wantsEvents } from '../src/api/http/event-stream.js'
import { listen } from './kit.js'

async function serve(use: (events: EventStream) => void) {
  const app = express()
  app.get('/', (request, response) => {
    if (!wantsEvents(request)) return void response.json('no events')
    const events = eventStream(response)
    expect(findEventStream(response)).toBeUndefined()
    use(events)
    expect(findEventStream(response)).toBe(events)
  })
  const { url, close } = await listen(app)
  onTestFinished(close)
  return (accept: string) => fetch(url, { headers: { accept } })
}

test('an event of several lines is sent as several fields, and nothing follows the last event', async () => {
  const ask = await serve((events) => {
    events.send('progress', '{}')
    events.end('result', 'one\r\n\ntwo')
    events.end('problem', 'late')
  })
  const response = await ask('text/event-stream')
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(await response.text()).toBe(
    'event: progress\ndata: {}\n\nevent: result\ndata: one\ndata: \ndata: two\n\n',
  )
})

test('only a caller who prefers events gets them', async () => {
  const ask = await serve((events) => events.end('result', ''))
  for (const accept of ['*/*', 'application/json', 'application/json, text/event-stream', 'text/html']) {
    expect(await (await ask(accept)).text()).toBe('"no events"')
  }
  expect(await (await ask('text/event-stream, application/json;q=0.9')).text()).toContain('event: result')
})

test('a comment keeps the connection alive while there is nothing to say', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const ask = await serve((events) => {
    events.send('progress', '{}')
    vi.advanceTimersByTime(15_000)
    events.end('result', '{}')
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
  })
  const text = await (await ask('text/event-stream')).text()
  expect(text).toBe('event: progress\ndata: {}\n\n: keep-alive\n\nevent: result\ndata: {}\n\n')
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0), PATIENCE_MS)
})
