import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { hasFunctions } from '../option-rules.js'
import type { ItemStore } from './store.js'

/** The parts of a client of the package `redis` that this package uses: of `createClient`, `createCluster` or `createSentinel`. */
export interface NodeRedisClient {
  readonly isReady: boolean
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** The parts of a client of the package `ioredis` that this package uses: of `Redis`, also with Sentinels, or `Redis.Cluster`. */
export interface IoRedisClient {
  readonly status: string
  eval(script: string, numberOfKeys: number, ...keysAndValues: string[]): Promise<unknown>
  evalsha(sha1: string, numberOfKeys: number, ...keysAndValues: string[]): Promise<unknown>
}

/** A client of the package `redis` or `ioredis`. */
export type RedisClient = NodeRedisClient | IoRedisClient

/** Why a value cannot be used as a client; `undefined` if it can. */
export function clientFault(value: unknown): string | undefined {
  const has = (name: string) => hasFunctions(value, name)
  const client = Object(value)
  if (has('evalSha') && Reflect.has(client, 'isReady')) return undefined
  if (has('evalsha') && Reflect.has(client, 'status')) return undefined
  const expected = 'must be a connected client of the package "redis" or "ioredis"'
  // A pool of the package "redis" has the commands, but does not say whether it is connected.
  if (has('evalSha')) return `${expected}; a pool does not fit, since it does not say whether it is connected`
  if (has('evalsha') || has('EVALSHA') || has('eval')) {
    return `${expected}; this client has no promises, or is older than redis 4 and ioredis 5`
  }
  return expected
}

/** SHA-1 of each script, the name that Redis knows it by. */
const shas = new Map<string, string>()

function hashScript(script: string): string {
  const sha = shas.get(script) ?? hash('sha1', script)
  shas.set(script, sha)
  return sha
}

/** Runs a script, which Redis does atomically. All keys are in one slot, so that Redis Cluster can do it too. */
export async function runScript(
  client: RedisClient,
  script: string,
  keys: string[],
  values: string[],
): Promise<unknown> {
  let by: 'sha' | 'script' = 'sha'
  for (let tries = 1; ; tries++) {
    try {
      return await send(client, by, by === 'sha' ? hashScript(script) : script, keys, values)
    } catch (error) {
      const [code] = error instanceof Error ? error.message.split(' ', 1) : []
      if (code === 'MOVED' || code === 'ASK') throw notForCluster(error)
      // The server has not seen the script yet, or has restarted, or is another one.
      if (code === 'NOSCRIPT') by = 'script'
      // A slot is on its way to another server, and one of the keys is here, another one there. The step was not made.
      else if (code === 'TRYAGAIN') await sleep(TRY_AGAIN_MS)
      else throw error
      if (tries > MOST_TRIES) throw error
    }
  }
}

/** Together less than the time that an operation of the store may take. */
const MOST_TRIES = 50
const TRY_AGAIN_MS = 50

function notForCluster(cause: unknown): Error {
  return new Error(
    'This Redis server is part of a Redis Cluster, and the client knows only one server. Use createCluster of the package "redis", or Redis.Cluster of "ioredis".',
    { cause },
  )
}

async function send(
  client: RedisClient,
  by: 'sha' | 'script',
  name: string,
  keys: string[],
  values: string[],
): Promise<unknown> {
  // A disconnected client queues commands until it reconnects, and the user would wait.
  if (!isConnected(client) && !('status' in client && client.status === 'wait'))
    throw new Error('The Redis client is not connected.')
  if ('evalsha' in client)
    return client[by === 'sha' ? 'evalsha' : 'eval'](name, keys.length, ...keys, ...values)
  return client[by === 'sha' ? 'evalSha' : 'eval'](name, { keys, arguments: values })
}

/** Whether a client of Redis has a connection. */
export function isConnected(client: RedisClient): boolean {
  return 'isReady' in client ? client.isReady : client.status === 'ready'
}

const POLICY = `return string.match(redis.call('INFO', 'memory'), 'maxmemory_policy:(%S+)')`

/** Whether a server keeps all keys when its memory is full; `undefined` if it does not tell, such as to a user who may not run INFO. */
export async function keepsKeys(client: RedisClient): Promise<boolean | undefined> {
  // As a script, so that every kind of client sends it to one server; without a key, which the user might not be allowed to use.
  const policy = await runScript(client, POLICY, [], []).catch(() => undefined)
  return typeof policy === 'string' ? policy === 'noeviction' : undefined
}

/*
 * One hash per owner and one field per item: its expiry time, a space, its value. Redis runs each script atomically. A
 * hash expires together with its longest-lived item.
 */

const READ = `return redis.call('HGETALL', KEYS[1])`

const PUT = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1`

const ADD = `
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if kept and tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[4]) then return 0 end${PUT}`

const SWAP = `
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if not kept then return 0 end
local space = string.find(kept, ' ', 1, true)
if string.sub(kept, space + 1) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], string.sub(kept, 1, space) .. ARGV[3])
return 1`

const REMOVE = `return redis.call('HDEL', KEYS[1], ARGV[1])`

/** Creates a store of items in Redis. */
export function redisStore(client: RedisClient, prefix: string): ItemStore {
  const run = (script: string, owner: string, ...values: string[]) =>
    runScript(client, script, [`${prefix}:trust:${owner}`], values)

  return {
    async read(owner) {
      const fields = z.array(z.string()).parse(await run(READ, owner))
      return fields.flatMap((id, index) => (index % 2 === 0 ? [parseItem(id, fields[index + 1] ?? '')] : []))
    },

    async add(owner, { id, value, expiresAt }) {
      const now = Date.now()
      const lifeMs = Math.max(1, expiresAt - now)
      return (await run(ADD, owner, id, `${expiresAt} ${value}`, String(lifeMs), String(now))) === 1
    },

    async put(owner, { id, value, expiresAt }) {
      const lifeMs = Math.max(1, expiresAt - Date.now())
      await run(PUT, owner, id, `${expiresAt} ${value}`, String(lifeMs))
    },

    swap: async (owner, id, before, value) => (await run(SWAP, owner, id, before, value)) === 1,

    remove: async (owner, id) => (await run(REMOVE, owner, id)) === 1,
  }
}

function parseItem(id: string, field: string) {
  const space = field.indexOf(' ')
  return { id, value: field.slice(space + 1), expiresAt: Number(field.slice(0, space)) }
}
