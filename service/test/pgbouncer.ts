import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileOf, missing } from '../../test/kit/debian-packages.js'

/** Why there is no PgBouncer to test with; `undefined` if there is. In CI this is an error. */
export const pgbouncerMissing = missing('postgresql', 'pgbouncer')

/** A PgBouncer in transaction mode, with few connections to the database at `databaseUrl`, which its clients share. */
export async function startPgbouncer(
  databaseUrl: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { hostname, port: databasePort, pathname } = new URL(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pgbouncer-'))
  const port = await freePort()
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${databasePort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${join(folder, 'users.txt')}`,
    'pool_mode = transaction',
    'default_pool_size = 4',
    'max_client_conn = 200',
  ]
  writeFileSync(join(folder, 'pgbouncer.ini'), settings.join('\n'))
  writeFileSync(join(folder, 'users.txt'), '"postgres" ""\n')
  const command = [fileOf('pgbouncer') ?? 'pgbouncer', '-q', join(folder, 'pgbouncer.ini')]
  // PgBouncer refuses to run as root.
  const asRoot = process.getuid?.() === 0
  if (asRoot) {
    chmodSync(folder, 0o755)
    execFileSync('chown', ['-R', 'postgres', folder])
    command.unshift('setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups')
  }
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: 'ignore', cwd: '/' })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await untilItListens(port)
  return {
    url: `postgresql://postgres@127.0.0.1:${port}${pathname}`,
    async stop() {
      child.kill('SIGTERM')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilItListens(port: number): Promise<void> {
  const deadline = performance.now() + 10_000
  for (;;) {
    const listens = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (listens) return
    if (performance.now() > deadline) throw new Error('PgBouncer does not listen.')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
