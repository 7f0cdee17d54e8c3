import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { missing } from '../../test/kit/debian-packages.js'
import { freePort } from '../../test/kit/loopback.js'

const BINARIES = '/usr/lib/postgresql/15/bin'

/** Why there is no PostgreSQL to test with; `undefined` if there is. In CI this is an error. */
export const postgresMissing = missing('postgresql')

/** A new PostgreSQL server on a free port of this machine, which is removed when it is stopped. */
export async function startPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pg-'))
  const port = await freePort()
  const asRoot = process.getuid?.() === 0
  // PostgreSQL refuses to run as root.
  const run = (binary: string, args: string[]): [string, string[]] => {
    const path = join(BINARIES, binary)
    return asRoot
      ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
      : [path, args]
  }
  if (asRoot) {
    chmodSync(folder, 0o755)
    execFileSync('chown', ['postgres', folder])
  }
  const data = join(folder, 'data')
  execFileSync(...run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']), {
    stdio: 'ignore',
    cwd: '/',
  })
  const settings = [
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${folder}`,
    '-c',
    'fsync=off',
  ]
  const server = spawn(...run('postgres', ['-D', data, '-p', String(port), ...settings]), {
    stdio: 'ignore',
    cwd: '/',
  })
  const gone = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  await ready(url)
  return {
    url,
    async stop() {
      server.kill('SIGINT')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function ready(url: string): Promise<void> {
  const deadline = performance.now() + 20_000
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      await client.end().catch(() => {})
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
