import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** Stands between services and their database, which `moveTo` replaces. `cut` breaks every connection until `mend`. */
export async function faultProxy(firstPort) {
  const sockets = new Set()
  let databasePort = firstPort
  let isCut = false
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const server = createServer((client) => {
    client.on('error', () => {})
    if (isCut) return client.destroy()
    const upstream = connect(databasePort, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    cut() {
      isCut = true
      breakAll()
    },
    mend() {
      isCut = false
    },
    moveTo(port) {
      databasePort = port
      breakAll()
    },
    stop() {
      breakAll()
      server.close()
    },
  }
}
