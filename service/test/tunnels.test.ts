import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import express from 'express'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apiServer } from '../src/http/server.js'

const TUNNEL = 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'

describe('somebody who asks for a tunnel', () => {
  let server: ReturnType<typeof apiServer>
  let port: number

  beforeEach(async () => {
    server = apiServer(express())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })

  afterEach(async () => {
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
  })

  async function opened() {
    // Does not hang up by itself when the other side does.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    await once(socket, 'connect')
    return socket
  }

  test('and breaks the connection before the answer does not end the process (R83)', async () => {
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

  test('is refused, and cannot keep the connection', async () => {
    const socket = await opened()
    socket.write(TUNNEL)
    const [, accepted] = await once(server, 'connect')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 405 /)
    try {
      if (!accepted.closed) await once(accepted, 'close', { signal: AbortSignal.timeout(2_000) })
    } finally {
      accepted.destroy()
      socket.destroy()
    }
  })
})
