import * as z from 'zod'
import type { Settings } from '../settings.js'
import type { RedisConfig } from '../stores/config.js'
import { APPROVAL_WINDOW_MS } from './approvals.js'
import { type Attempts, CHALLENGE_WINDOW_MS } from './attempts.js'
import { type MessageBudget, refuseMessage, TEN_MINUTES_MS } from './budgets.js'
import { counterKey, runInStore } from './counter.js'
import { APPROVE_ATTEMPT, CONSUME_ATTEMPT, CONSUME_MESSAGE } from './redis-scripts.js'

const DAY_MS = 24 * 60 * 60_000

const pair = z.tuple([z.int(), z.number()])

/** The same limits, with the steps of every verify and challenge as one Redis script each. */
export function scriptedLimits(
  limits: { readonly attempts: Attempts; readonly messageBudget: MessageBudget },
  { redis, prefix = 'mfa' }: RedisConfig,
  { limits: numbers }: Settings,
): { readonly attempts: Attempts; readonly messageBudget: MessageBudget } {
  const { attemptsPerChallenge, failuresBeforeLock, sendsPerTenMinutes, sendsPerDay, resendWaitsMs } = numbers
  const key = (name: string, of: string) => `${prefix}:${name}:${counterKey(of)}`
  const run = (script: string, keys: string[], ...values: number[]) =>
    runInStore('Redis', async () => {
      // A disconnected client queues commands until it reconnects, and the user would wait.
      if (!redis.isReady) throw new Error('The Redis client is not connected.')
      return redis.eval(script, { keys, arguments: values.map(String) })
    })

  return {
    attempts: {
      ...limits.attempts,

      async consume({ userId, challenge }) {
        const keys = [key('attempts', challenge), key('failures', userId), key('lock', userId)]
        const windows = [CHALLENGE_WINDOW_MS, DAY_MS]
        const result = await run(CONSUME_ATTEMPT, keys, ...windows, attemptsPerChallenge, failuresBeforeLock)
        const [verdict, value] = pair.parse(result)
        if (verdict === 1) return { ok: true, attemptsLeft: value }
        const retryAfterSeconds = Math.max(1, Math.ceil(value / 1_000))
        return { ok: false, why: verdict === 0 ? 'exhausted' : 'locked', retryAfterSeconds }
      },

      async succeeded({ userId, challenge }, approval) {
        const keys = [key('claim', approval), key('attempts', challenge), key('failures', userId)]
        return (await run(APPROVE_ATTEMPT, keys, APPROVAL_WINDOW_MS, attemptsPerChallenge)) === 1
      },
    },

    messageBudget: {
      ...limits.messageBudget,

      async consume({ userId, slot }) {
        const keys = [
          key('wait', slot),
          key('sends-10m', userId),
          key('sends-day', userId),
          key('round', slot),
        ]
        const windows = [TEN_MINUTES_MS, DAY_MS, DAY_MS]
        const result = await run(
          CONSUME_MESSAGE,
          keys,
          ...windows,
          sendsPerTenMinutes,
          sendsPerDay,
          ...resendWaitsMs,
        )
        const [verdict, ms] = pair.parse(result)
        if (verdict === 1) return { ok: true, resendInSeconds: ms / 1_000 }
        return refuseMessage(verdict === 0 ? 'too_soon' : 'too_many', ms)
      },
    },
  }
}
