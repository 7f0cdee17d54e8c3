import * as z from 'zod'
import { type Duration, durationMs } from '../duration.js'
import { callback, hasFunctions, isRedisClient, PREFIX, TABLE_NAME, wholeNumber } from '../option-rules.js'
import type { MfaOptions } from '../options.js'
import type { StoreConfig } from '../stores/open.js'

const HOUR_MS = 60 * 60_000

const placeText =
  'must be "memory", { redis: client } of the package "redis", { postgres: pool }, or an object with the functions read, put, swap and remove'
/** Where trusted devices and the links in notices are kept. */
export const storeConfig = z.custom<StoreConfig>(
  (value) => {
    if (value === 'memory' || hasFunctions(value, 'read', 'put', 'swap', 'remove')) return true
    if (typeof value !== 'object' || value === null) return false
    const { redis, postgres, prefix, tableName, ...others } = { ...value } as Record<string, unknown>
    if (Object.keys(others).length > 0) return false
    const fits = (given: unknown, pattern: RegExp) =>
      given === undefined || (typeof given === 'string' && pattern.test(given))
    return redis === undefined
      ? hasFunctions(postgres, 'query') && prefix === undefined && fits(tableName, TABLE_NAME)
      : isRedisClient(redis) && postgres === undefined && tableName === undefined && fits(prefix, PREFIX)
  },
  { error: placeText },
)

const inRange = (value: number | undefined, min: number, max: number) =>
  value !== undefined && value >= min && value <= max

const ageText = 'must be a time like "30d", from 1h to 30d'
/** The option `trustedDevices`. */
export const trustedDevicesSchema = z
  .strictObject(
    {
      store: storeConfig,
      maxAge: z
        .custom<Duration>((age) => inRange(durationMs(age), HOUR_MS, 30 * 24 * HOUR_MS), { error: ageText })
        .default('30d'),
      maxDevices: wholeNumber(1, 10, 'devices').default(10),
      cookieName: z
        .string({ error: 'must be the name of a cookie, like mfa-devices' })
        .regex(/^[\w-]{1,64}$/, { error: 'must be letters, digits, - and _, like mfa-devices' })
        .default('mfa-devices'),
      canTrust: callback<NonNullable<NonNullable<MfaOptions['trustedDevices']>['canTrust']>>(
        'must be a function from a user and a request to true or false',
      ).optional(),
      fingerprint: callback<NonNullable<NonNullable<MfaOptions['trustedDevices']>['fingerprint']>>(
        'must be a function from a user to text that changes with the password',
      ).optional(),
    },
    { error: 'must be an object like { store: "memory" }' },
  )
  .transform(({ maxAge, ...others }) => ({ ...others, maxAgeMs: durationMs(maxAge) ?? 0 }))
