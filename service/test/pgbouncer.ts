import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileOf, missing } from '../../test/kit/debian-packages.js'
import { freePort } from '../../test/kit/loopback.js'

/** Why there is no PgBouncer to test with; `undefined` if there is. In CI this is an error. */
export const pgbouncerMissing = missing('postgresql', 'pgbouncer')

/** A PgBouncer in transaction mode, with few connections to the database at `databaseUrl`, which its clients share. */
export async function startPgbouncer(
  databaseUrl: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { hostname, port: databasePort, pathname } = new URL(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pgbouncer-'))
  const port = await freePort()
  // The file that operators copy, with another address and without passwords.
  const settings = readFileSync(new URL('../deploy/pgbouncer.ini', import.meta.url), 'utf8')
    .replace('host=127.0.0.1 port=5432', `host=${hostname} port=${databasePort}`)
    .replace('listen_port = 6432', `listen_port = ${port}`)
    .replace('auth_type = scram-sha-256', 'auth_type = trust')
    .replace('/etc/pgbouncer/userlist.txt', join(folder, 'users.txt'))
    .replace('default_pool_size = 20', 'default_pool_size = 4')
  writeFileSync(join(folder, 'pgbouncer.ini'), settings)
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
  const deadline = performance.now() + 20_000
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
