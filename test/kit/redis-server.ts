import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'

/** Whether there is a Redis to start. In CI there must be one. */
export function hasRedis(): boolean {
  const found = !spawnSync('redis-server', ['--version']).error
  if (!found) {
    const remedy = 'redis-server is missing: apt-get install redis-server (or brew install redis)'
    if (process.env.CI) throw new Error(remedy)
    console.warn(`${remedy}; the tests that need it are skipped`)
  }
  return found
}

/** A Redis of the tests' own, on a free port of this machine, with nothing on disk. */
export async function startRedis() {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'countersign-redis-'))
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
    { stdio: 'ignore' },
  )
  const clients: { destroy(): void }[] = []

  const connect = async () => {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: () => 50 } })
    // Until the server listens, and after it is stopped, connecting fails; node-redis goes on trying.
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
    return client
  }

  return {
    connect,
    /** Ends the server, as a crash would. */
    async kill() {
      await new Promise<void>((resolve) => {
        server.once('exit', () => resolve())
        server.kill('SIGKILL')
      })
    },
    async stop() {
      for (const client of clients) client.destroy()
      server.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
