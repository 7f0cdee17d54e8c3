import { execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts } from './free-port.mjs'
import { asPostgres, binary, giveToPostgres } from './postgres.mjs'

const NODES = [0, 1, 2]
/** The programs beside PostgreSQL, by the Debian package that brings each. */
const PROGRAMS = { patroni: '/usr/bin/patroni', 'etcd-server': '/usr/bin/etcd', haproxy: '/usr/sbin/haproxy' }
const START_MS = 120_000

/** Patroni's settings, in seconds. Patroni asks for `ttl` of at least `loop_wait` and twice `retry_timeout`. */
export const PATRONI_TIMES = { ttl: 6, loop_wait: 1, retry_timeout: 2 }

/** What the run used, in words. @throws {Error} if a package is missing, with the command that installs it. */
export function clusterVersions() {
  const packages = { 'postgresql-15': binary('postgres'), ...PROGRAMS }
  const missing = Object.keys(packages).filter((name) => !existsSync(packages[name]))
  if (missing.length > 0) {
    throw new Error(`Missing: ${missing.join(', ')}. Install the Debian packages, and stop what they start:
  apt-get install --no-install-recommends postgresql-15 patroni etcd-server haproxy`)
  }
  const version = (program, flag) =>
    /\d+\.\d+(\.\d+)?/.exec(execFileSync(program, [flag], { encoding: 'utf8' }))[0]
  return [
    `PostgreSQL ${version(binary('postgres'), '--version')}`,
    `Patroni ${version(PROGRAMS.patroni, '--version')}`,
    `etcd ${version(PROGRAMS['etcd-server'], '--version')}`,
    `HAProxy ${version(PROGRAMS.haproxy, '-v')}`,
  ].join(', ')
}

/**
 * Three machines, each with a PostgreSQL, its Patroni and a member of etcd, and an HAProxy before them which asks each Patroni whether its
 * PostgreSQL is the primary. All that a machine exchanges with the others goes through an HAProxy of its own, its `cable`: a stopped
 * cable swallows everything, as a broken network does. Clients do not use the cables. `url` is the database behind HAProxy.
 */
export async function startPatroni({ synchronous }) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-patroni-'))
  giveToPostgres(folder)
  const ports = await freePorts(1 + NODES.length * 9)
  const next = () => ports.pop()
  const front = next()
  const machines = NODES.map((nth) => ({
    name: `node${nth}`,
    ...{ postgres: next(), rest: next(), etcd: next(), peer: next() },
    cable: { postgres: next(), rest: next(), etcd: NODES.map(next) },
  }))
  const processes = new Map()

  function run(name, program, args) {
    const log = openSync(join(folder, `${name}.log`), 'a')
    const child = spawn(...asPostgres(program, args), { stdio: ['ignore', log, log], cwd: '/' })
    closeSync(log)
    processes.set(name, { child, gone: new Promise((resolve) => child.once('exit', resolve)) })
  }
  const write = (name, text) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const startCable = ({ name, postgres, rest, cable }) => {
    const links = [
      [cable.postgres, postgres],
      [cable.rest, rest],
      ...cable.etcd.map((port, nth) => [port, machines[nth].etcd]),
    ]
    run(`cable-${name}`, PROGRAMS.haproxy, [
      '-db',
      '-f',
      write(`cable-${name}.cfg`, haproxy(links.map(link))),
    ])
  }
  const startEtcd = (machine) =>
    run(`etcd-${machine.name}`, PROGRAMS['etcd-server'], etcdArguments(machine, machines, folder))
  const startDatabase = (machine) => {
    const { name } = machine
    const settings = patroniSettings(machine, synchronous, folder)
    // JSON is YAML, too.
    run(`patroni-${name}`, PROGRAMS.patroni, [write(`${name}.yml`, JSON.stringify(settings))])
  }
  const postmaster = ({ name }) => {
    const file = join(folder, name, 'postmaster.pid')
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
  }
  const signal = (name, signalName) => processes.get(name).child.kill(signalName)
  const rest = async ({ rest: port }, path, options) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      signal: AbortSignal.timeout(3_000),
      ...options,
    })
    return { status: response.status, text: await response.text() }
  }
  /** Each machine's role, as the first Patroni says that answers. */
  async function roles() {
    for (const machine of machines) {
      const answer = await rest(machine, '/cluster').catch(() => undefined)
      if (answer?.status === 200) return JSON.parse(answer.text).members
    }
    return []
  }
  const wanted = ['leader', synchronous ? 'sync_standby' : 'replica', 'replica'].sort().join()
  async function isWhole() {
    const members = await roles()
    const running = members.filter(({ state }) => ['running', 'streaming'].includes(state))
    const lines = new Set(members.map(({ timeline }) => timeline))
    return (
      running
        .map(({ role }) => role)
        .sort()
        .join() === wanted && lines.size === 1
    )
  }
  async function until(what, isSo) {
    for (const deadline = performance.now() + START_MS; !(await isSo().catch(() => false)); await wait(250))
      if (performance.now() > deadline) throw new Error(`No ${what} in time; the logs are in ${folder}.`)
  }
  // A Patroni that comes sooner ends at once.
  const hasEtcdVersion = async () => {
    const response = await fetch(`http://127.0.0.1:${machines[0].etcd}/version`)
    return (await response.json()).etcdcluster !== 'not_decided'
  }
  /** Waits until there is a primary and both standbys follow it. */
  const whole = () => until('primary with two standbys', isWhole)
  async function machineWithRole(role) {
    let found
    await until(role, async () => {
      found = (await roles()).find((member) => member.role === role)
      return found
    })
    return machines.find(({ name }) => name === found.name)
  }

  async function stop() {
    const end = async (prefix, ending) => {
      const ended = [...processes].filter(([name]) => name.startsWith(prefix)).map(([, one]) => one)
      for (const { child } of ended) child.kill(ending)
      await Promise.all(ended.map(({ gone }) => gone))
    }
    await end('haproxy', 'SIGTERM')
    // A Patroni stops its PostgreSQL before it ends.
    await end('patroni', 'SIGTERM')
    await end('etcd', 'SIGKILL')
    await end('cable', 'SIGKILL')
  }

  try {
    for (const machine of machines) startCable(machine)
    for (const machine of machines) startEtcd(machine)
    await until('etcd', hasEtcdVersion)
    for (const machine of machines) startDatabase(machine)
    run('haproxy', PROGRAMS.haproxy, [
      '-db',
      '-f',
      write('haproxy.cfg', haproxy([frontend(front, machines)])),
    ])
    await whole()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `postgresql://postgres@127.0.0.1:${front}/postgres`,
    whole,
    primary: () => machineWithRole('leader'),
    standby: () => machineWithRole(synchronous ? 'sync_standby' : 'replica'),
    /** The machine loses its power. */
    kill(machine) {
      signal(`patroni-${machine.name}`, 'SIGKILL')
      signal(`etcd-${machine.name}`, 'SIGKILL')
      const pid = postmaster(machine)
      const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
      for (const one of [pid, ...children.trim().split(/\s+/).map(Number)]) {
        try {
          process.kill(one, 'SIGKILL')
        } catch {
          // A process that ended by itself meanwhile.
        }
      }
    },
    revive(machine) {
      startEtcd(machine)
      startDatabase(machine)
    },
    /** The machine and the others do not reach each other any more, but clients reach all of them. */
    cut(machine) {
      signal(`cable-${machine.name}`, 'SIGSTOP')
      signal(`etcd-${machine.name}`, 'SIGSTOP')
    },
    mend(machine) {
      signal(`cable-${machine.name}`, 'SIGCONT')
      signal(`etcd-${machine.name}`, 'SIGCONT')
    },
    async switchOver(machine) {
      const body = JSON.stringify({ leader: machine.name })
      const { status, text } = await rest(machine, '/switchover', {
        method: 'POST',
        body,
        signal: AbortSignal.timeout(60_000),
      })
      if (status !== 200) throw new Error(`Patroni answered ${status}: ${text}`)
    },
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function etcdArguments({ name, etcd, peer }, machines, folder) {
  const client = `http://127.0.0.1:${etcd}`
  const own = `http://127.0.0.1:${peer}`
  const all = machines.map((one) => `${one.name}=http://127.0.0.1:${one.peer}`)
  const folderOfMember = join(folder, `etcd-${name}`)
  return [
    ...['--name', name, '--data-dir', folderOfMember, '--log-level', 'error'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', own, '--initial-advertise-peer-urls', own],
    ...['--initial-cluster', all.join(), '--initial-cluster-state', 'new'],
  ]
}

function patroniSettings({ name, postgres, rest, cable }, synchronous, folder) {
  const local = (port) => `127.0.0.1:${port}`
  return {
    scope: 'countersign',
    name,
    log: { level: 'INFO' },
    restapi: { listen: local(rest), connect_address: local(cable.rest) },
    // With `use_proxies`, Patroni does not go around the cable to the addresses that etcd tells it.
    etcd3: { hosts: cable.etcd.map(local), use_proxies: true },
    bootstrap: {
      dcs: {
        ...PATRONI_TIMES,
        synchronous_mode: synchronous,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 100 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { auth: 'trust' }],
    },
    postgresql: {
      listen: local(postgres),
      connect_address: local(cable.postgres),
      data_dir: join(folder, name),
      bin_dir: binary('.'),
      pgpass: join(folder, `${name}.pgpass`),
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      parameters: { unix_socket_directories: folder },
    },
  }
}

const haproxy = (sections) => `global
  maxconn 1000
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
${sections.join('')}`

const link = ([port, to]) => `listen ${port}
  bind 127.0.0.1:${port}
  server one 127.0.0.1:${to}
`

/** Leads to the primary, and hangs up on the clients of one that is none any more. */
const frontend = (port, machines) => `listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  timeout check 1s
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${machines.map(({ name, postgres, rest }) => `  server ${name} 127.0.0.1:${postgres} check port ${rest}\n`).join('')}`
