import { connect, createServer, type Socket } from 'node:net'
import { listenOnLoopback } from '../../test/kit/loopback.js'

/** A TCP proxy to a port of this machine. `stall` silences the connections that exist, while new ones work. */
export async function stallingProxy(port: number) {
  const pairs: [Socket, Socket][] = []
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    pairs.push([near, far])
    near.on('error', () => {}).pipe(far)
    far.on('error', () => {}).pipe(near)
  })
  const proxyPort = await listenOnLoopback(server)
  return {
    port: proxyPort,
    stall() {
      for (const socket of pairs.flat()) socket.unpipe().pause()
    },
    close() {
      for (const socket of pairs.flat()) socket.destroy()
      server.close()
    },
  }
}
