import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from './loopback.js'

/**
 * A proxy to a local server that does not respond at first: it accepts connections and forwards nothing. Connections made
 * after `open` reach the server.
 */
export async function stalledProxy(port: number) {
  let isOpen = false
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    if (!isOpen) return
    const onward = connect(port, '127.0.0.1').on('error', () => socket.destroy())
    sockets.push(onward)
    socket.pipe(onward).pipe(socket)
  })
  const stalledPort = await listenOnLoopback(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: stalledPort,
    open: () => {
      isOpen = true
    },
    /** The number of accepted connections. */
    accepted: () => sockets.length,
  }
}
