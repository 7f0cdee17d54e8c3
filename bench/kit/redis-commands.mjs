import { once } from 'node:events'
import { connect } from 'node:net'

/** Tells the names of the commands that clients send; those that a script runs inside Redis are not among them. */
export async function watchCommands(redisPort) {
  const socket = connect(redisPort, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('MONITOR\r\n')
  await once(socket, 'data')
  let text = ''
  socket.setEncoding('utf8')
  socket.on('data', (chunk) => {
    text += chunk
  })
  return {
    /** The commands since the last call. */
    take() {
      const names = [...text.matchAll(/^\+[\d.]+ \[\d+ (?!lua\])[^\]]+\] "(\w+)"/gm)].map(([, name]) =>
        name.toLowerCase(),
      )
      text = ''
      return names
    },
    stop: () => socket.destroy(),
  }
}
