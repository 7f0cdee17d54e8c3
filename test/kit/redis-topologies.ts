import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import { missing } from './debian-packages.js'
import { freePort } from './loopback.js'
import { temporaryFolder } from './temporary-folder.js'

/** Why tests with several Redis servers are skipped; `undefined` if they run. */
export const topologiesMissing = missing('redis-server', 'redis-sentinel')

/** How long servers wait before they take another one for dead, in milliseconds. */
const DEAD_AFTER_MS = 1_000

const BINARY = '/usr/bin/redis-server'

const execute = promisify(execFile)

async function ask(port: number, ...command: string[]): Promise<string> {
  const { stdout } = await execute('redis-cli', ['-p', String(port), ...command])
  return stdout.trim()
}

/** Waits until a server responds so. */
function until(port: number, response: string, ...command: string[]): Promise<void> {
  const check = async () => {
    const text = await ask(port, ...command)
    if (!text.includes(response)) throw new Error(`${command.join(' ')}: ${text}`)
  }
  return vi.waitFor(check, { timeout: 30_000, interval: 50 })
}

/** Servers of Redis whose files are in one folder, which is removed when they stop. */
function servers() {
  const folder = temporaryFolder()
  const running = new Map<number, { kill(): Promise<void> }>()
  return {
    async start(settings: Record<string, string>, ...more: string[]) {
      const port = await freePort()
      const dir = join(folder.path, String(port))
      mkdirSync(dir)
      const lines = Object.entries({ port: String(port), bind: '127.0.0.1', dir, ...settings })
      const file = join(dir, 'redis.conf')
      writeFileSync(file, lines.map(([name, value]) => `${name} ${value}\n`).join(''))
      const server = spawn(BINARY, [file, ...more], { stdio: 'ignore' })
      const gone = once(server, 'exit')
      running.set(port, {
        async kill() {
          server.kill('SIGKILL')
          await gone
        },
      })
      await until(port, 'PONG', 'ping')
      return port
    },
    /** Ends a server as a crash would. */
    async kill(port: number) {
      await running.get(port)?.kill()
      running.delete(port)
    },
    async stop() {
      await Promise.all([...running.values()].map((server) => server.kill()))
      folder.remove()
    },
  }
}

const NOT_ON_DISK = { save: '""', appendonly: 'no' }

/** A Redis Cluster of three primaries with a replica each, on free local ports. */
export async function startRedisCluster() {
  const { start, kill, stop } = servers()
  const one = async () =>
    start({
      ...NOT_ON_DISK,
      'cluster-enabled': 'yes',
      'cluster-port': String(await freePort()),
      'cluster-node-timeout': String(DEAD_AFTER_MS),
      'repl-ping-replica-period': '1',
    })
  const ports = await Promise.all(Array.from({ length: 6 }, one))
  // A server that runs, to ask.
  let [first = 0, other = 0] = ports
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  await execute('redis-cli', [
    '--cluster',
    'create',
    ...addresses,
    '--cluster-replicas',
    '1',
    '--cluster-yes',
  ])
  const nodes = async (port = first) =>
    (await ask(port, 'cluster', 'nodes')).split('\n').map((line) => {
      const [id = '', address = '', flags = '', , , , , ...slots] = line.split(' ')
      return { id, port: Number(/:(\d+)@/.exec(address)?.[1]), flags: flags.split(','), slots }
    })
  const primaries = async () => (await nodes()).filter(({ flags }) => flags.includes('master'))
  for (const port of ports) await until(port, 'cluster_state:ok', 'cluster', 'info')
  for (const { port } of await primaries()) await until(port, 'state=online', 'info', 'replication')

  return {
    ports,
    stop,
    /** The slot of a key, and the port of the primary that has it. */
    async ownerOf(key: string) {
      const slot = Number(await ask(first, 'cluster', 'keyslot', key))
      const has = (range: string) => {
        const [from = 0, to = from] = range.split('-').map(Number)
        return from <= slot && slot <= to
      }
      const owner = (await primaries()).find(({ slots }) => slots.some(has))
      if (!owner) throw new Error(`No primary has slot ${slot}.`)
      return { slot, port: owner.port, id: owner.id }
    },
    /** Ends the primary that has this key, as a crash would. */
    async killOwnerOf(key: string) {
      const { port } = await this.ownerOf(key)
      if (port === first) [first, other] = [other, first]
      await kill(port)
    },
    /** Moves the slot of a key to another primary. `between` runs when half of its keys have moved. */
    async moveSlotOf(key: string, between: () => Promise<void>) {
      const { slot, id, port } = await this.ownerOf(key)
      const target = (await primaries()).find((node) => node.id !== id)
      if (!target) throw new Error('There is no other primary.')
      await ask(target.port, 'cluster', 'setslot', String(slot), 'importing', id)
      await ask(port, 'cluster', 'setslot', String(slot), 'migrating', target.id)
      const keys = (await ask(port, 'cluster', 'getkeysinslot', String(slot), '1000'))
        .split('\n')
        .filter(Boolean)
      const migrate = (one: string) =>
        ask(port, 'migrate', '127.0.0.1', String(target.port), one, '0', '5000')
      const half = Math.ceil(keys.length / 2)
      for (const one of keys.slice(0, half)) await migrate(one)
      await between()
      // Those that were written meanwhile, too.
      const rest = (await ask(port, 'cluster', 'getkeysinslot', String(slot), '1000'))
        .split('\n')
        .filter(Boolean)
      for (const one of rest) await migrate(one)
      for (const node of [target, ...(await primaries())]) {
        await ask(node.port, 'cluster', 'setslot', String(slot), 'node', target.id)
      }
      return { moved: keys.length }
    },
  }
}

/** A primary with a replica, and three Sentinels that watch them, on free local ports. */
export async function startRedisSentinels() {
  const { start, kill, stop } = servers()
  const primary = await start(NOT_ON_DISK)
  await start({ ...NOT_ON_DISK, replicaof: `127.0.0.1 ${primary}` })
  await until(primary, 'state=online', 'info', 'replication')
  const sentinels = await Promise.all(
    Array.from({ length: 3 }, () =>
      start(
        {
          'sentinel monitor': `mfa 127.0.0.1 ${primary} 2`,
          'sentinel down-after-milliseconds': `mfa ${DEAD_AFTER_MS}`,
          'sentinel failover-timeout': 'mfa 5000',
        },
        '--sentinel',
      ),
    ),
  )
  for (const port of sentinels) {
    await until(port, 'OK 3', 'sentinel', 'ckquorum', 'mfa')
    await until(port, '127.0.0.1', 'sentinel', 'replicas', 'mfa')
  }
  return { name: 'mfa', sentinels, killPrimary: () => kill(primary), stop }
}
