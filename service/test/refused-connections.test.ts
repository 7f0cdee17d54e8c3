import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import express from 'express'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { apiServer } from '../src/http/server.js'

const TUNNEL = 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'

describe('a connection that is refused', () => {
  let server: ReturnType<typeof apiServer>
  let port: number

  beforeEach(async () => {
    server = apiServer(express())
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
