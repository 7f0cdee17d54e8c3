import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from './loopback.js'

/**
 * A proxy to a local server that counts round trips in a row: all that a client sends before the next response to it is one of
 * them.
 */
export async function tripCountingProxy(port: number) {
  let trips = 0
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1').on('error', () => socket.destroy())
    sockets.push(
      socket.on('error', () => {}),
      onward,
    )
    let isSending = false
    socket.on('data', (chunk) => {
      if (!isSending) trips++
      isSending = true
      onward.write(chunk)
    })
    onward.on('data', (chunk) => {
      isSending = false
      socket.write(chunk)
    })
  })
  const ownPort = await listenOnLoopback(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: ownPort,
    /** The round trips since the last call. */
    take() {
      const counted = trips
      trips = 0
      return counted
    },
  }
}
