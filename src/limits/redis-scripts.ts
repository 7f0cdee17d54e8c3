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

/**
 * KEYS: attempts of the challenge, failures of the account, lock of the account. ARGV: the windows of the first two in
 * milliseconds, attempts per challenge, failures before a lock. Returns 1 and the attempts left, 0 and the lock's
 * milliseconds when the challenge is exhausted, or -1 and the lock's milliseconds when the account is locked.
 */
export const CONSUME_ATTEMPT = `${ADD}
local lockMs = math.max(redis.call('PTTL', KEYS[3]), 0)
local onChallenge = add(KEYS[1], ARGV[1])
if onChallenge > tonumber(ARGV[3]) then
  takeBack(KEYS[1], 1)
  if lockMs > 0 then return {-1, lockMs} end
  return {0, 0}
end
local onAccount = add(KEYS[2], ARGV[2])
if lockMs > 0 or onAccount > tonumber(ARGV[4]) then
  takeBack(KEYS[1], 1)
  takeBack(KEYS[2], 1)
  return {-1, lockMs}
end
return {1, tonumber(ARGV[3]) - onChallenge}`

/**
 * KEYS: the approval, attempts of the challenge, failures of the account. ARGV: the window of the first two in
 * milliseconds, attempts per challenge. Returns 1 for the first caller, whose challenge's failures are forgiven and whose
 * challenge ends; otherwise 0.
 */
export const APPROVE_ATTEMPT = `${ADD}
if add(KEYS[1], ARGV[1]) > 1 then return 0 end
local counted = math.min(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[2]))
if counted > 0 and redis.call('EXISTS', KEYS[3]) == 1 then takeBack(KEYS[3], counted) end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[1])
return 1`

/**
 * KEYS: the wait before a resend, messages in ten minutes, messages in a day, rounds of this wait. ARGV: the windows of the
 * last three in milliseconds, messages in ten minutes, messages in a day, then the waits in milliseconds. Returns 1 and the
 * next wait, or 0 (too soon) or -1 (too many) and the milliseconds to wait.
 */
export const CONSUME_MESSAGE = `${ADD}
local waitMs = redis.call('PTTL', KEYS[1])
if waitMs > 0 then return {0, waitMs} end
if add(KEYS[2], ARGV[1]) > tonumber(ARGV[4]) then
  takeBack(KEYS[2], 1)
  return {-1, redis.call('PTTL', KEYS[2])}
end
if add(KEYS[3], ARGV[2]) > tonumber(ARGV[5]) then
  takeBack(KEYS[2], 1)
  takeBack(KEYS[3], 1)
  return {-1, redis.call('PTTL', KEYS[3])}
end
local round = add(KEYS[4], ARGV[3])
local nextMs = ARGV[math.min(5 + round, #ARGV)]
redis.call('SET', KEYS[1], 1, 'PX', nextMs)
return {1, tonumber(nextMs)}`
