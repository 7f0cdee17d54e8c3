import * as z from 'zod'
import { hasFunctions, isRedisClient, PREFIX, TABLE_NAME, wholeNumber } from '../option-rules.js'
import type { QueryPool } from '../stores/postgres-table.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const tableText = 'must be the name of a table: small letters, digits and _, like mfa_counters'
const prefixText = 'must be 1 to 32 letters, digits, ., - or _, like "shop"'

/** The option `limits`: how far the counters go, and where they live. */
export const limitsSchema = z
  .strictObject(
    {
      redis: z
        .custom<object>(isRedisClient, {
          error: 'must be a connected client of the package "redis"; one of ioredis does not fit',
        })
        .optional(),
      postgres: z
        .strictObject(
          {
            pool: z.custom<QueryPool>((value) => hasFunctions(value, 'query'), {
              error: 'must be a Pool of the package "pg"',
            }),
            tableName: z
              .string({ error: tableText })
              .regex(TABLE_NAME, { error: tableText })
              .default('mfa_counters'),
          },
          { error: 'must be an object like { pool: new Pool() }' },
        )
        .optional(),
      prefix: z.string({ error: prefixText }).regex(PREFIX, { error: prefixText }).default('mfa'),
      attemptsPerChallenge: wholeNumber(3, 10, 'attempts').default(5),
      failuresBeforeLock: wholeNumber(5, 10, 'failures').default(10),
      lockMs: wholeNumber(15 * MINUTE_MS, 24 * HOUR_MS, 'milliseconds').default(30 * MINUTE_MS),
      sendsPerTenMinutes: wholeNumber(1, 5, 'messages').default(5),
      sendsPerDay: wholeNumber(1, 10, 'messages').default(10),
      resendWaitsSeconds: z
        .array(wholeNumber(20, 3_600, 'seconds'), { error: 'must be a list of seconds like [30, 60, 120]' })
        .min(1, { error: 'must name at least one wait, like [30]' })
        .default([30, 60, 120]),
    },
    { error: 'must be an object like { attemptsPerChallenge: 5 }' },
  )
  .refine(({ redis, postgres }) => !redis || !postgres, {
    path: ['postgres'],
    error: 'must not stand beside redis: the counters live in one place',
  })
