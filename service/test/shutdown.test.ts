import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { shutDown } from '../src/run/serve.js'

/** A server and a stand-in for its service that records the calls. */
async function running(handler: RequestListener) {
  const events: string[] = []
  const server = createServer(handler)
  const port = await listenOnLoopback(server)
  const service = {
    drain: () => void events.push('drained'),
    closeStreams: () => {},
    close: async () => void events.push('closed'),
  }
  return { server, service, events, port, url: `http://127.0.0.1:${port}` }
}

describe('an orderly shutdown', () => {
  test('accepts requests while it drains, and none afterwards', async () => {
    const { server, service, events, url } = await running((_request, response) => response.end('ok'))
    const patience = new AbortController()
    const ending = shutDown(server, service, { drainMs: 60_000, finishWithinMs: 1_000 }, patience.signal)
    expect(events).toEqual(['drained'])
    expect((await fetch(url, { headers: { connection: 'close' } })).status).toBe(200)
    patience.abort()
    await ending
    expect(events).toEqual(['drained', 'closed'])
    await expect(fetch(url)).rejects.toThrow()
  })

  test('answers requests in progress before it closes the store', async () => {
    let finish = () => {}
    const { server, service, events, url } = await running((_request, response) => {
      finish = () => response.end('done')
      begun()
    })
    let begun = () => {}
    const begins = new Promise<void>((resolve) => {
      begun = resolve
    })
    const answer = fetch(url, { headers: { connection: 'close' } })
    await begins
    const ending = shutDown(server, service, { drainMs: 0, finishWithinMs: 60_000 })
    await new Promise((resolve) => setImmediate(resolve))
    expect(events).toEqual(['drained'])
    finish()
    expect(await (await answer).text()).toBe('done')
    await ending
    expect(events).toEqual(['drained', 'closed'])
  })

  test('does not wait for a stuck connection', async () => {
    const { server, service, events, port } = await running(() => {})
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write('POST /v1/mfa HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nUser=')
    await once(server, 'request')
    const gone = once(socket, 'close')
    await shutDown(server, service, { drainMs: 0, finishWithinMs: 50 })
    await gone
    expect(events).toEqual(['drained', 'closed'])
  })
})
