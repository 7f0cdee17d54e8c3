import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * Stands between an app and its database, and counts round trips in a row: all that the app sends before the next answer to it
 * is one of them.
 */
export async function tripCountingProxy(databasePort) {
  let trips = 0
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
    let isSending = false
    client.on('data', (chunk) => {
      if (!isSending) trips++
      isSending = true
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      isSending = false
      client.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    /** The round trips since the last call. */
    take() {
      const counted = trips
      trips = 0
      return counted
    },
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
