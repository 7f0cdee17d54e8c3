import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import pg from 'pg'
import { freePort } from './free-port.mjs'

const BINARIES = process.env.POSTGRES_BINARIES ?? '/usr/lib/postgresql/15/bin'

/** The path of a program of PostgreSQL. */
export function binary(name) {
  return join(BINARIES, name)
}

/** The command and the arguments that run a program of PostgreSQL, or the one at a path, not as root: PostgreSQL refuses that. */
export function asPostgres(name, args) {
  const path = isAbsolute(name) ? name : binary(name)
  return process.getuid() === 0
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
    : [path, args]
}

/** Runs a shipped script with the programs of PostgreSQL, as the user who runs it. */
export function runAsPostgres(script, args) {
  const user = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
  const [program, ...all] = [...(process.getuid() === 0 ? user : []), script, ...args]
  const env = { ...process.env, PATH: `${BINARIES}:${process.env.PATH}` }
  return execFileSync(program, all, { cwd: '/', env, stdio: 'pipe', encoding: 'utf8' })
}

/** Makes a folder one of the user as whom PostgreSQL runs. */
export function giveToPostgres(folder) {
  if (process.getuid() !== 0) return
  chmodSync(folder, 0o755)
  execFileSync('chown', ['postgres', folder])
}

/**
 * A PostgreSQL server of our own with its settings as they come, so that every commit reaches the disk. `more` are other
 * settings (`name=value`); with `keepLog`, `log()` returns what it has logged. Its data are removed when it stops, unless they
 * are in a `folder` of the caller, where a later server finds them.
 */
export async function startPostgres({ more = [], keepLog = false, folder: kept } = {}) {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'countersign-bench-pg-'))
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  giveToPostgres(folder)
  const data = join(folder, 'data')
  if (!existsSync(data)) {
    execFileSync(...asPostgres('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8']), {
      stdio: 'ignore',
      cwd: '/',
    })
  }
  const settings = [
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${folder}`,
    ...more.flatMap((setting) => ['-c', setting]),
  ]
  const logFile = join(folder, 'log')
  const server = spawn(...asPostgres('postgres', ['-D', data, '-p', String(port), ...settings]), {
    stdio: ['ignore', 'ignore', keepLog ? openSync(logFile, 'a') : 'ignore'],
    cwd: '/',
  })
  const gone = new Promise((resolve) => server.once('exit', resolve))
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  await ready(url)
  return {
    url,
    port,
    folder,
    pid: server.pid,
    log: () => readFileSync(logFile, 'utf8'),
    async stop() {
      server.kill('SIGINT')
      await gone
      if (!kept) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Where statements of our own find tables: those of the service, and extensions. */
export const SEARCH_PATH = 'mfa,public'

/** Runs one script of SQL. */
export async function script(url, text) {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${SEARCH_PATH}` })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

/**
 * What `work` made a server write, whose only client works for it: bytes of journal, index entries, rows, and updates of rows
 * without (`hotUpdates`) and with (`otherUpdates`) new index entries.
 */
export async function writesDuring(url, work) {
  await script(url, 'CREATE EXTENSION IF NOT EXISTS pg_walinspect')
  const position = async () =>
    (await script(url, 'SELECT pg_current_wal_flush_lsn()::text AS lsn')).rows[0].lsn
  // Whatever was committed before is on the disk now.
  await script(url, 'SELECT pg_switch_wal()')
  const from = await position()
  await work()
  const to = await position()
  const { rows } = await script(
    url,
    `SELECT "resource_manager/record_type" AS type, count::integer, combined_size::integer AS bytes
     FROM pg_get_wal_stats('${from}', '${to}', true) WHERE count > 0`,
  )
  const countOf = (...types) =>
    rows.reduce((sum, { type, count }) => sum + (types.includes(type) ? count : 0), 0)
  return {
    bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
    indexEntries: countOf('Btree/INSERT_LEAF', 'Btree/INSERT_POST', 'Btree/SPLIT_L', 'Btree/SPLIT_R'),
    rows: countOf('Heap/INSERT', 'Heap/INSERT+INIT'),
    hotUpdates: countOf('Heap/HOT_UPDATE', 'Heap/HOT_UPDATE+INIT'),
    otherUpdates: countOf('Heap/UPDATE', 'Heap/UPDATE+INIT'),
  }
}

async function ready(url) {
  for (const deadline = performance.now() + 60_000; ; ) {
    try {
      return await script(url, 'SELECT 1')
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
