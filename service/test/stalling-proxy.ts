import { connect, createServer, type Socket } from 'node:net'
import { listenOnLoopback } from '../../test/kit/loopback.js'

/**
 * A TCP proxy to a port of this machine. `stall` silences the connections that exist, while new ones work. `cut` breaks them, and
 * every new one, until `mend`.
 */
export async function stallingProxy(port: number) {
  const pairs: [Socket, Socket][] = []
  let isCut = false
  const breakAll = () => {
    for (const socket of pairs.splice(0).flat()) socket.destroy()
  }
  const server = createServer((near) => {
    if (isCut) return near.on('error', () => {}).destroy()
    const far = connect(port, '127.0.0.1')
    pairs.push([near, far])
    near.on('error', () => {}).pipe(far)
    far.on('error', () => {}).pipe(near)
    return near
  })
  const proxyPort = await listenOnLoopback(server)
  return {
    port: proxyPort,
    stall() {
      for (const socket of pairs.flat()) socket.unpipe().pause()
    },
    cut() {
      isCut = true
      breakAll()
    },
    mend() {
      isCut = false
    },
    close() {
      breakAll()
      server.close()
    },
  }
}
