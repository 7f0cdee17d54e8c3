import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from './free-port.mjs'

/** A Redis server of our own on a free port, which keeps nothing on disk. */
export async function startRedis() {
  const port = await freePort()
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await untilItListens(port)
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid,
    async stop() {
      child.kill()
      await ended
    },
  }
}

async function untilItListens(port) {
  for (const deadline = performance.now() + 5_000; ; ) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return socket.destroy()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
