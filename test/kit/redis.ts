import { spawn } from 'node:child_process'
import { createClient } from 'redis'
import { missing } from './debian-packages.js'
import { freePort } from './free-port.js'

const BINARY = '/usr/bin/redis-server'

/** Why there is no Redis to test with; `undefined` if there is. In CI this is an error. */
export const redisMissing = missing('redis-server')

/** A Redis server of our own, on a free port of this machine, that keeps nothing when stopped. */
export async function startRedis() {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const server = spawn(BINARY, args, { stdio: 'ignore' })
  const gone = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  const clients: ReturnType<typeof client>[] = []
  const client = () =>
    createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: 20 } }).on(
      'error',
      () => {},
    )
  return {
    url: `redis://127.0.0.1:${port}`,
    /** A connection of its own, as another process would have. */
    async connect() {
      const one = client()
      clients.push(one)
      await one.connect()
      return one
    },
    /** Has the server take what is sent to it and say nothing, until `thaw`. */
    freeze: () => void server.kill('SIGSTOP'),
    /** Has it go on, beginning with what was sent meanwhile. */
    thaw: () => void server.kill('SIGCONT'),
    /** Ends the server as a crash would; its clients go on looking for it. */
    async kill() {
      server.kill('SIGKILL')
      await gone
    },
    async stop() {
      for (const one of clients) one.destroy()
      server.kill('SIGCONT')
      server.kill('SIGTERM')
      await gone
    },
  }
}
