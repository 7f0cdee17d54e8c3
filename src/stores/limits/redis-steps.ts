import * as z from 'zod'
import { type RedisClient, runScript } from '../redis.js'
import { createCounters, parseKept, type StepStore } from './step.js'

/** Counters in Redis: one text for each account and one for each transaction, which expires with the last of its counters. */
export function redisSteps(
  client: RedisClient,
  keyOf: (account: string, transaction?: string) => string,
): StepStore {
  const run = async (script: string, keys: string[], ...values: string[]) => {
    const texts = z.array(z.string()).parse(await runScript(client, script, keys, values))
    return { now: Number(values[0]), texts }
  }
  const readCounters = (texts: readonly string[], now: number) =>
    texts.map((text) => createCounters(parseKept(JSON.parse(text)), now))

  return {
    async run(account, updates) {
      const keys = updates.map(({ transaction }) => keyOf(account, transaction))
      const values = [String(Date.now()), ...updates.map((update) => JSON.stringify(update))]
      const { now, texts } = await run(RUN, keys, ...values)
      const [verdict, ...counters] = texts
      return { isPermitted: verdict === '1', counters: readCounters(counters, now) }
    },
    async read(account, transactions) {
      const keys = [undefined, ...transactions].map((transaction) => keyOf(account, transaction))
      const { now, texts } = await run(READ, keys, String(Date.now()))
      return readCounters(texts, now)
    },
  }
}

/** KEYS: the counters to read. */
const READ = `
local found = {}
for at, key in ipairs(KEYS) do found[at] = redis.call('GET', key) or '{}' end
return found`

/** KEYS: the counters of each update. ARGV: time of the app, updates. Returns permission and the counters. */
const RUN = `
local now = tonumber(ARGV[1])
local function isGroup(name) return string.sub(name, -2) == ' *' end
local function isIn(name, group) return string.sub(name, 1, #group - 1) == string.sub(group, 1, -2) end
local function count(kept, name)
  if not isGroup(name) then return kept[name] and kept[name][1] or 0 end
  local sum = 0
  for other, counter in pairs(kept) do if isIn(other, name) then sum = sum + counter[1] end end
  return sum
end
local updates, before, verdict = {}, {}, '1'
for at, key in ipairs(KEYS) do
  updates[at], before[at] = cjson.decode(ARGV[at + 1]), {}
  for name, counter in pairs(cjson.decode(redis.call('GET', key) or '{}')) do
    if counter[2] > now then before[at][name] = counter end
  end
  for _, needed in ipairs(updates[at].requires or {}) do
    local found = count(before[at], needed.counter)
    if found < (needed.from or 0) or (needed.below and found >= needed.below) then verdict = '0' end
  end
end
local texts = {verdict}
for at, key in ipairs(KEYS) do
  local kept, after = before[at], {}
  for name, counter in pairs(kept) do after[name] = counter end
  for _, change in ipairs(verdict == '1' and updates[at].changes or {}) do
    local name = change.counter
    if change.when and count(kept, change.when) < (change.atLeast or 1) then
      -- Not yet.
    elseif isGroup(name) then
      for other in pairs(kept) do if isIn(other, name) then after[other] = nil end end
    else
      local sum = change.set or (count(kept, name) + (change.add or 0))
      if change.minus then sum = sum - count(kept, change.minus) end
      local lives = change.livesMs or {}
      local life = lives[math.min(change.nth and count(kept, change.nth) or 0, #lives - 1) + 1] or 0
      local begins = change.set or change.restarts or not kept[name]
      if sum > 0 then after[name] = {sum, begins and now + life or kept[name][2]} else after[name] = nil end
    end
  end
  texts[at + 1] = cjson.encode(after)
  if verdict == '1' then
    local last = 0
    for _, counter in pairs(after) do last = math.max(last, counter[2]) end
    if last > 0 then redis.call('SET', key, texts[at + 1], 'PX', string.format('%d', last - now)) else redis.call('DEL', key) end
  end
end
return texts`
