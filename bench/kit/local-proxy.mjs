import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * Stands between an app and its database. For each connection, `between` is called with functions that write to the server and to
 * the client, and returns what to do with each chunk that comes `fromClient` and `fromServer`.
 */
export async function localProxy(databasePort, between) {
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
    const { fromClient, fromServer } = between({
      toServer: (chunk) => upstream.write(chunk),
      toClient: (chunk) => client.write(chunk),
    })
    client.on('data', fromClient)
    upstream.on('data', fromServer)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
