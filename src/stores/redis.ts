import * as z from 'zod'
import type { ItemStore } from './store.js'

/** The parts of a client of the package `redis` that this package uses. */
export interface RedisClient {
  readonly isReady: boolean
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
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
if kept and tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1`

const SWAP = `
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if not kept then return 0 end
local space = string.find(kept, ' ', 1, true)
if string.sub(kept, space + 1) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], string.sub(kept, 1, space) .. ARGV[3])
return 1`

const REMOVE = `return redis.call('HDEL', KEYS[1], ARGV[1])`

/** A store in Redis, shared by all processes. */
export function redisStore(client: RedisClient, prefix: string): ItemStore {
  const run = async (script: string, owner: string, ...values: string[]) => {
    // A disconnected client queues commands until it reconnects, and the user would wait.
    if (!client.isReady) throw new Error('The Redis client is not connected.')
    return client.eval(script, { keys: [`${prefix}:trust:${owner}`], arguments: values })
  }

  return {
    async read(owner) {
      const fields = z.array(z.string()).parse(await run(READ, owner))
      return fields.flatMap((id, index) => (index % 2 === 0 ? [parseItem(id, fields[index + 1] ?? '')] : []))
    },

    async add(owner, { id, value, expiresAt }) {
      const now = Date.now()
      const lifeMs = Math.max(1, expiresAt - now)
      const added = await run(ADD, owner, id, `${expiresAt} ${value}`, String(lifeMs), String(now))
      return added === 1
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
