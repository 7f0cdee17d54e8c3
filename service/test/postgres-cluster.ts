import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../test/kit/loopback.js'

const BINARIES = '/usr/lib/postgresql/15/bin'

/** A PostgreSQL server that a test may stop, freeze and copy, so it has one of its own. */
export interface OwnPostgres {
  readonly port: number
  readonly url: string
  /** Runs statements as the superuser, on a connection of its own. */
  sql(text: string): Promise<void>
  /** Stops all of its processes without ending them, as a machine that hangs. */
  freeze(): void
  thaw(): void
  /** Ends it as a crash does, without a word to its clients. */
  crash(): Promise<void>
  start(): Promise<void>
  /** A standby that follows this server, and becomes a primary by `pg_promote`. */
  standby(): Promise<OwnPostgres>
  remove(): Promise<void>
}

/** Starts a new server, with more settings if given. */
export async function ownPostgres(more: Settings = {}): Promise<OwnPostgres> {
  const folder = newFolder()
  run('initdb', ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'])
  return servePostgres(folder, more)
}

type Settings = Readonly<Record<string, string>>

/** Starts a server on the folder `data` in `folder`. */
export async function servePostgres(folder: string, more: Settings = {}): Promise<OwnPostgres> {
  const port = await freePort()
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    fsync: 'off',
    full_page_writes: 'off',
    ...more,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const data = join(folder, 'data')
  let server: ReturnType<typeof spawn>
  let gone: Promise<void>

  const start = async () => {
    const [command, all] = asPostgres('postgres', ['-D', data, '-p', String(port), ...args])
    server = spawn(command, all, { stdio: 'ignore', cwd: '/' })
    gone = new Promise((resolve) => server.once('exit', () => resolve()))
    await untilReady(url)
  }
  const signalAll = (signal: NodeJS.Signals) => {
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(server.pid)], { encoding: 'utf8' })
    for (const pid of [String(server.pid), ...children.trim().split(/\s+/)]) process.kill(Number(pid), signal)
  }
  const end = async (signal: NodeJS.Signals) => {
    server.kill(signal)
    await gone
  }
  await start()
  return {
    port,
    url,
    async sql(text) {
      const client = new pg.Client({ connectionString: url, options: '-c search_path=mfa,public' })
      await client.connect()
      await client.query(text).finally(() => client.end())
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    crash: () => end('SIGQUIT'),
    start,
    async standby() {
      const copy = newFolder()
      run('pg_basebackup', ['-d', url, '-D', join(copy, 'data'), '-R', '-c', 'fast', '--no-sync'])
      return servePostgres(copy)
    },
    async remove() {
      if (server.exitCode === null) await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A new folder that belongs to the user as whom PostgreSQL runs. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-own-pg-'))
  chmodSync(folder, 0o755)
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', folder])
  return folder
}

/** Runs a program of PostgreSQL, or a script that finds them in its path. */
export function run(binary: string, args: string[]): string {
  const { PATH = '' } = process.env
  const env = { PATH: `${BINARIES}:${PATH}` }
  return execFileSync(...asPostgres(binary, args), { env, encoding: 'utf8', stdio: 'pipe', cwd: '/' })
}

/** PostgreSQL refuses to run as root. */
function asPostgres(binary: string, args: string[]): [string, string[]] {
  const path = isAbsolute(binary) ? binary : join(BINARIES, binary)
  if (process.getuid?.() !== 0) return [path, args]
  return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
}

async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + 20_000
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    } finally {
      await client.end().catch(() => {})
    }
  }
}
