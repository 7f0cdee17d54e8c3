import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import express from 'express'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { limitBody } from '../src/api/http/body-limit.js'
import { apiServer } from '../src/api/http/server.js'

const TUNNEL = 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'

describe('a connection that is refused', () => {
  let server: ReturnType<typeof apiServer>
  let port: number
  let arrived = () => {}

  beforeEach(async () => {
    const api = express()
    api.post('/upload', (request) => {
      limitBody(request, 3_600_000)
      arrived()
    })
    api.post('/verb', () => arrived())
    server = apiServer(api)
    port = await listenOnLoopback(server)
  })

  afterEach(async () => {
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
  })

  async function opened() {
    // Does not close when the other side does.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    await once(socket, 'connect')
    return socket
  }

  test('for a tunnel request and breaks before the response does not crash the process (R83)', async () => {
    const unheard: unknown[] = []
    const hear = (error: unknown) => unheard.push(error)
    process.on('uncaughtException', hear)
    try {
      for (let i = 0; i < 20; i++) {
        const socket = await opened()
        const asked = once(server, 'connect')
        socket.write(TUNNEL)
        socket.resetAndDestroy()
        const [, accepted] = await asked
        if (!accepted.closed) await once(accepted, 'close')
      }
    } finally {
      process.off('uncaughtException', hear)
    }
    expect(unheard).toEqual([])
  })

  test('whose body takes longer than 20 seconds is answered with 408, unless its route allows more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const slow = async (path: string) => {
      const reached = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const socket = await opened()
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsound`)
      await reached
      return socket
    }
    const verb = await slow('/verb')
    const upload = await slow('/upload')
    const answers: string[] = []
    upload.on('data', (data) => answers.push(String(data)))
    const refused = once(verb, 'data')
    vi.advanceTimersByTime(20_000)
    expect(String(await refused)).toMatch(/^HTTP\/1.1 408 [\s\S]*"code":"request_timeout"/)
    expect(answers).toEqual([])
    const late = once(upload, 'data')
    vi.advanceTimersByTime(3_580_000)
    expect(String(await late)).toMatch(/^HTTP\/1.1 408 /)
    for (const socket of [verb, upload]) socket.destroy()
  })

  test.each([
    [
      'for a tunnel request',
      405,
      async (socket: Socket) => {
        socket.write(TUNNEL)
        await once(server, 'connect')
      },
    ],
    [
      'whose headers did not arrive in time',
      408,
      async (_socket: Socket, accepted: Socket) => {
        const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
        server.emit('clientError', late, accepted)
      },
    ],
  ])('%s is closed, even if the other side stays open', async (_why, status, refuse) => {
    const arriving = once(server, 'connection')
    const socket = await opened()
    const [accepted] = await arriving
    await refuse(socket, accepted)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toContain(`HTTP/1.1 ${status} `)
    try {
      if (!accepted.closed) await once(accepted, 'close', { signal: AbortSignal.timeout(3_000) })
    } finally {
      accepted.destroy()
      socket.destroy()
    }
  })
})
