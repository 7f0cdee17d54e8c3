import { spawn } from 'node:child_process'
import { createClient } from 'redis'
import { missing } from './debian-packages.js'
import { freePort } from './loopback.js'

const BINARY = '/usr/bin/redis-server'

/** Why tests with Redis are skipped; `undefined` if they run. In CI a missing Redis is an error. */
export const redisMissing = missing('redis-server')

/** A Redis server for the test on a free local port, with more settings if given, whose data is lost when it stops. */
export async function startRedis(...more: string[]) {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more]
  const server = spawn(BINARY, args, { stdio: 'ignore' })
  const gone = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  const clients: ReturnType<typeof client>[] = []
  const client = (to: number) =>
    createClient({ url: `redis://127.0.0.1:${to}`, socket: { reconnectStrategy: 20 } }).on('error', () => {})
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    /** Opens a separate connection, as another process would, to the server or to a proxy at the port `to`. */
    async connect(to = port) {
      const one = client(to)
      clients.push(one)
      await one.connect()
      return one
    },
    /** Makes the server accept data without responding, until `thaw`. */
    freeze: () => void server.kill('SIGSTOP'),
    /** Makes it continue, starting with the data that was sent meanwhile. */
    thaw: () => void server.kill('SIGCONT'),
    /** Ends the server as a crash would; its clients keep trying to reconnect. */
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
