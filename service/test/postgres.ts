import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { missing } from '../../test/kit/debian-packages.js'
import { freePort } from '../../test/kit/loopback.js'

const BINARIES = '/usr/lib/postgresql/15/bin'

/** Why there is no PostgreSQL to test with; `undefined` if there is. In CI this is an error. */
export const postgresMissing = missing('postgresql')

const asRoot = process.getuid?.() === 0

/** The command that runs a program of PostgreSQL, which refuses to run as root. */
function command(binary: string, args: string[]): [string, string[]] {
  const path = join(BINARIES, binary)
  return asRoot
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
    : [path, args]
}

/** A new folder that PostgreSQL can write to. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pg-'))
  if (asRoot) {
    chmodSync(folder, 0o755)
    execFileSync('chown', ['postgres', folder])
  }
  return folder
}

/** The data of a new server, which all servers of this run begin with: to copy it takes a twentieth of the time of `initdb`. */
function newData(): string {
  const data = join(inject('runFolder'), 'postgres')
  if (existsSync(data)) return data
  const folder = newFolder()
  const unfinished = join(folder, 'data')
  execFileSync(
    ...command('initdb', ['-D', unfinished, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']),
    { stdio: 'ignore', cwd: '/' },
  )
  try {
    renameSync(unfinished, data)
  } catch (error) {
    // Another worker was faster.
    if (!existsSync(data)) throw error
  }
  rmSync(folder, { recursive: true })
  return data
}

/** A new PostgreSQL server on a free port of this machine, which is removed when it is stopped. */
export async function startPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = newFolder()
  const port = await freePort()
  const data = join(folder, 'data')
  execFileSync('cp', ['-a', newData(), data])
  const settings = [
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${folder}`,
    '-c',
    'fsync=off',
  ]
  const server = spawn(...command('postgres', ['-D', data, '-p', String(port), ...settings]), {
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
