import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Settings } from '../settings.js'
import type { RedisConfig } from '../stores/config.js'
import { DAY_MS } from '../time.js'
import { APPROVAL_WINDOW_MS, type Attempts, BINDING_WINDOW_MS, LOCK_COUNT_WINDOW_MS } from './attempts.js'
import { type MessageBudget, refuseMessage, TEN_MINUTES_MS } from './budgets.js'
import { CHALLENGE_WINDOW_MS, counterKey, runInStore } from './counter.js'

const verdictOf = z.tuple([z.int(), z.number(), z.int()])
const messageVerdict = z.tuple([z.enum(['sent', 'too_soon', 'too_many', 'locked', 'disabled']), z.number()])
const numbers = z.array(z.number())

/** The same limits, with the steps of every verify and challenge as one Redis script each. */
export function scriptedLimits(
  limits: { readonly attempts: Attempts; readonly messageBudget: MessageBudget },
  { redis, prefix = 'mfa' }: RedisConfig,
  settings: Settings,
): { readonly attempts: Attempts; readonly messageBudget: MessageBudget } {
  const { attemptsPerChallenge, failuresBeforeLock, failuresBeforeDisable, lockDurationMs } = settings.limits
  const { sendsPerTenMinutes, sendsPerDay, resendWaitsMs } = settings.limits
  const key = (name: string, of: string) => `${prefix}:${name}:${counterKey(of)}`
  const bindingKeys = (binding: string | undefined) =>
    binding === undefined ? [] : [key('binding', binding)]
  const run = (script: string, keys: string[], ...values: readonly (number | string)[]) =>
    runInStore('Redis', async () => {
      // A disconnected client queues commands until it reconnects, and the user would wait.
      if (!redis.isReady) throw new Error('The Redis client is not connected.')
      return redis.eval(script, { keys, arguments: values.map(String) })
    })

  return {
    attempts: {
      ...limits.attempts,

      async limitsOf(userId, bindings) {
        const keys = [key('lock', userId), ...bindings.flatMap(bindingKeys)]
        const [lockedMs = 0, ...counts] = numbers.parse(await run(READ_LIMITS, keys))
        const isDisabled = (_: string, index: number) => (counts[index] ?? 0) >= failuresBeforeDisable
        return {
          lockedForSeconds: Math.ceil(lockedMs / 1_000),
          disabled: new Set(bindings.filter(isDisabled)),
        }
      },

      async consume(attempt) {
        const { userId, challenge, binding } = attempt
        const keys = [
          key('attempts', challenge),
          key('failed', userId),
          key('lock', userId),
          ...bindingKeys(binding),
        ]
        const entry = `${startOfEntry(challenge)}${randomUUID()}`
        const windows = [CHALLENGE_WINDOW_MS, DAY_MS, BINDING_WINDOW_MS]
        const most = [attemptsPerChallenge, failuresBeforeLock, failuresBeforeDisable]
        const result = await run(CONSUME_ATTEMPT, keys, ...windows, ...most, Date.now(), entry)
        const [verdict, value, onBinding] = verdictOf.parse(result)
        if (verdict === 1) {
          const nth = attemptsPerChallenge - value
          return { ok: true, attemptsLeft: value, attempt: { ...attempt, nth, entry, onBinding } }
        }
        if (verdict === -2) return { ok: false, why: 'disabled' }
        const retryAfterSeconds = Math.max(1, Math.ceil(value / 1_000))
        return { ok: false, why: verdict === 0 ? 'exhausted' : 'locked', retryAfterSeconds }
      },

      async refund({ userId, challenge, binding, entry }) {
        const keys = [key('attempts', challenge), key('failed', userId), ...bindingKeys(binding)]
        await run(REFUND_ATTEMPT, keys, entry)
      },

      async failed({ userId, onBinding }) {
        const keys = [key('failed', userId), key('lock', userId), key('locks', userId)]
        const windows = [DAY_MS, LOCK_COUNT_WINDOW_MS]
        const result = await run(
          FAIL_ATTEMPT,
          keys,
          ...windows,
          failuresBeforeLock,
          lockDurationMs,
          DAY_MS,
          Date.now(),
        )
        return {
          lockedForSeconds: Math.ceil(z.number().parse(result) / 1_000),
          disabled: onBinding === failuresBeforeDisable,
        }
      },

      async succeeded({ userId, challenge, binding }, approval) {
        const keys = [
          key('claim', approval),
          key('attempts', challenge),
          key('failed', userId),
          ...bindingKeys(binding),
        ]
        const values = [APPROVAL_WINDOW_MS, attemptsPerChallenge, startOfEntry(challenge)]
        return (await run(APPROVE_ATTEMPT, keys, ...values)) === 1
      },
    },

    messageBudget: {
      ...limits.messageBudget,

      async consume({ userId, slot, binding }) {
        const keys = [
          key('wait', slot),
          key('sends-10m', userId),
          key('sends-day', userId),
          key('round', slot),
          ...(binding === undefined ? [] : [key('lock', userId), key('binding', binding)]),
        ]
        const windows = [TEN_MINUTES_MS, DAY_MS, DAY_MS]
        const result = await run(
          CONSUME_MESSAGE,
          keys,
          ...windows,
          sendsPerTenMinutes,
          sendsPerDay,
          failuresBeforeDisable,
          ...resendWaitsMs,
        )
        const [verdict, ms] = messageVerdict.parse(result)
        if (verdict === 'sent') return { ok: true, resendInSeconds: ms / 1_000 }
        if (verdict === 'disabled') return { ok: false, why: verdict, retryAfterSeconds: 0 }
        return refuseMessage(verdict, ms)
      },
    },
  }
}

/** How the members of a challenge begin in the set of the account's failures. */
function startOfEntry(challenge: string): string {
  return `${counterKey(challenge)} `
}

/*
 * The limits of one request as one Redis script each, so that a verify or a challenge asks Redis once instead of once per
 * counter. Redis runs a script atomically. Keys and values are those of the counters in `counter.ts`.
 */

const ADD = `
local function add(key, windowMs)
  local count = redis.call('INCR', key)
  if count == 1 or redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, windowMs) end
  return count
end
local function takeBack(key, by)
  if redis.call('DECRBY', key, by) <= 0 then redis.call('DEL', key) end
end
`

/*
 * The failures of an account are a sorted set: each member is the challenge, a space and an id of its own, with its time in
 * milliseconds. The caller gives the time, so that all stores decide by the clock of the app.
 */
const WINDOW = `
local function forgetOld(key, now, windowMs)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', tonumber(now) - tonumber(windowMs))
end
`

/**
 * KEYS: attempts of the challenge, failures of the account, lock of the account, failures of the factor if they are counted.
 * ARGV: the windows of challenge, account and factor in milliseconds; attempts per challenge, failures before a lock,
 * failures before a factor is disabled; the time, and the member for this attempt. Returns a verdict and a number: 1 and the
 * attempts left, 0 and the lock's milliseconds when the challenge is exhausted, -1 and the lock's milliseconds when the
 * account is locked, or -2 when the factor is disabled; and at last the number of the attempt on the factor.
 */
const CONSUME_ATTEMPT = `${ADD}${WINDOW}
local lockMs = math.max(redis.call('PTTL', KEYS[3]), 0)
local onChallenge = add(KEYS[1], ARGV[1])
if onChallenge > tonumber(ARGV[4]) then
  takeBack(KEYS[1], 1)
  if lockMs > 0 then return {-1, lockMs, 0} end
  return {0, 0, 0}
end
local onBinding = KEYS[4] and add(KEYS[4], ARGV[3]) or 0
if onBinding > tonumber(ARGV[6]) then
  takeBack(KEYS[1], 1)
  takeBack(KEYS[4], 1)
  return {-2, 0, 0}
end
forgetOld(KEYS[2], ARGV[7], ARGV[2])
if lockMs > 0 or redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[5]) then
  takeBack(KEYS[1], 1)
  if KEYS[4] then takeBack(KEYS[4], 1) end
  return {-1, lockMs, 0}
end
redis.call('ZADD', KEYS[2], ARGV[7], ARGV[8])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return {1, tonumber(ARGV[4]) - onChallenge, onBinding}`

/**
 * KEYS: attempts of the challenge, failures of the account, failures of the factor if they are counted. ARGV: the member of
 * the attempt. Takes the attempt back, unless it is forgiven already.
 */
const REFUND_ATTEMPT = `${ADD}
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then return 0 end
takeBack(KEYS[1], 1)
if KEYS[3] then takeBack(KEYS[3], 1) end
return 1`

/**
 * KEYS: failures of the account, lock of the account, number of its locks. ARGV: the window of the failures and that of the
 * locks in milliseconds, failures before a lock, the first lock and the longest in milliseconds, the time. Returns the
 * milliseconds of the lock that begins, or 0.
 */
const FAIL_ATTEMPT = `${WINDOW}
forgetOld(KEYS[1], ARGV[6], ARGV[1])
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[3]) then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local nth = redis.call('INCR', KEYS[3])
redis.call('PEXPIRE', KEYS[3], ARGV[2])
local lockMs = math.min(tonumber(ARGV[4]) * 2 ^ math.min(nth - 1, 20), tonumber(ARGV[5]))
redis.call('SET', KEYS[2], 1, 'PX', string.format('%d', lockMs))
redis.call('DEL', KEYS[1])
return lockMs`

/**
 * KEYS: the approval, attempts of the challenge, failures of the account, failures of the factor if they are counted. ARGV:
 * the window of the first two in milliseconds, attempts per challenge, how the members of this challenge begin. Returns 1
 * for the first caller, whose challenge's failures are forgiven and whose challenge ends; otherwise 0.
 */
const APPROVE_ATTEMPT = `${ADD}
if add(KEYS[1], ARGV[1]) > 1 then return 0 end
local counted = math.min(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[2]))
if KEYS[4] and counted > 0 then takeBack(KEYS[4], counted) end
for _, member in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  if string.sub(member, 1, #ARGV[3]) == ARGV[3] then redis.call('ZREM', KEYS[3], member) end
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[1])
return 1`

/** KEYS: lock of the account, failures of each factor. Returns the lock's milliseconds, and the failures in their order. */
const READ_LIMITS = `
local found = {math.max(redis.call('PTTL', KEYS[1]), 0)}
for at = 2, #KEYS do found[at] = tonumber(redis.call('GET', KEYS[at]) or '0') end
return found`

/**
 * KEYS: the wait before a resend, messages in ten minutes, messages in a day, rounds of this wait; for a message with a code
 * also the lock of the account and the failures of the factor. ARGV: the windows of the counts in milliseconds, messages in
 * ten minutes, messages in a day, failures before a factor is disabled, then the waits in milliseconds. Returns `sent` and the
 * next wait, or why the message is refused and the milliseconds to wait.
 */
const CONSUME_MESSAGE = `${ADD}
if KEYS[6] then
  if tonumber(redis.call('GET', KEYS[6]) or '0') >= tonumber(ARGV[6]) then return {'disabled', 0} end
  local lockMs = redis.call('PTTL', KEYS[5])
  if lockMs > 0 then return {'locked', lockMs} end
end
local waitMs = redis.call('PTTL', KEYS[1])
if waitMs > 0 then return {'too_soon', waitMs} end
if add(KEYS[2], ARGV[1]) > tonumber(ARGV[4]) then
  takeBack(KEYS[2], 1)
  return {'too_many', redis.call('PTTL', KEYS[2])}
end
if add(KEYS[3], ARGV[2]) > tonumber(ARGV[5]) then
  takeBack(KEYS[2], 1)
  takeBack(KEYS[3], 1)
  return {'too_many', redis.call('PTTL', KEYS[3])}
end
local round = add(KEYS[4], ARGV[3])
local nextMs = ARGV[math.min(6 + round, #ARGV)]
redis.call('SET', KEYS[1], 1, 'PX', nextMs)
return {'sent', tonumber(nextMs)}`
