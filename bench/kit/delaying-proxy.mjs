import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * Stands between an app and its database. `setDelay` holds each answer up for as many milliseconds, so that the round trips
 * which the app waits for one after the other can be told from the time that it takes.
 */
export async function delayingProxy(databasePort) {
  let delayMs = 0
  const sockets = new Set()
  const server = createServer((client) => {
    const upstream = connect(databasePort, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk) => {
      if (delayMs === 0) client.write(chunk)
      else setTimeout(() => client.write(chunk), delayMs)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    setDelay: (ms) => {
      delayMs = ms
    },
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
