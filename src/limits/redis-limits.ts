import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { DAY_MS } from '../duration.js'
import type { Settings } from '../settings.js'
import type { RedisConfig } from '../stores/config.js'
import { APPROVAL_WINDOW_MS } from './approvals.js'
import { type Attempts, BINDING_WINDOW_MS, LOCK_COUNT_WINDOW_MS } from './attempts.js'
import { type MessageBudget, refuseMessage, TEN_MINUTES_MS } from './budgets.js'
import { counterKey, runInStore } from './counter.js'
import { CHALLENGE_WINDOW_MS } from './failure-window.js'
import {
  APPROVE_ATTEMPT,
  CONSUME_ATTEMPT,
  CONSUME_MESSAGE,
  FAIL_ATTEMPT,
  READ_LIMITS,
  REFUND_ATTEMPT,
} from './redis-scripts.js'

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
