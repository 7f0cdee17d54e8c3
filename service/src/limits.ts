import * as z from 'zod'
import { type Duration, durationMs } from './duration.js'

interface CountRange {
  readonly unit:
    | 'digits'
    | 'attempts'
    | 'failures'
    | 'messages'
    | 'steps'
    | 'codes'
    | 'characters'
    | 'percent'
    | 'keys'
  readonly min: number
  readonly max: number
  readonly default: number
}

interface DurationRange {
  readonly unit: 'ms'
  readonly min: Duration
  readonly max: Duration
  readonly default: Duration
}

function count<Unit extends CountRange['unit']>(unit: Unit, min: number, max: number, initial: number) {
  return { unit, min, max, default: initial } as const satisfies CountRange
}

function duration(min: Duration, max: Duration, initial: Duration): DurationRange {
  return { unit: 'ms', min, max, default: initial }
}

/** Every limit with its unit, allowed range and default. The service does not start with a value outside the range. */
export const LIMIT_RANGES = {
  /** Length of a delivered code: 6 to 10 digits. Defaults to 6. */
  codeDigits: count('digits', 6, 10, 6),
  /** Lifetime of a code sent by SMS, WhatsApp, call or DUAL (R36): 1 to 10 minutes. Defaults to `'5m'`. */
  codeLifetime: duration('1m', '10m', '5m'),
  /** Lifetime of a code sent by email (R36): 1 to 10 minutes. Defaults to `'10m'`. */
  emailCodeLifetime: duration('1m', '10m', '10m'),
  /** Attempts that are evaluated for one challenge (R22): 3 to 10. Defaults to 5. */
  attemptsPerChallenge: count('attempts', 3, 10, 5),
  /** Unforgiven failures within 24 hours that lock an account (R23): 5 to 10. Defaults to 10. */
  failuresBeforeLock: count('failures', 5, 10, 10),
  /** First lock of an account; each further one lasts twice as long, up to 24 hours (R27). 15 minutes to 24 hours. Defaults to `'30m'`. */
  lockDuration: duration('15m', '24h', '30m'),
  /** Unforgiven failures since a factor was bound that disable it (R26): 20 to 100. Defaults to 100. */
  failuresBeforeDisable: count('failures', 20, 100, 100),
  /** Wait before the first resend; twice as long before the second, four times before every further one. 20 seconds to 5 minutes. Defaults to `'30s'`. */
  resendDelay: duration('20s', '5m', '30s'),
  /** Messages to one account in ten minutes (R43): 1 to 5. Defaults to 5. */
  sendsPerTenMinutes: count('messages', 1, 5, 5),
  /** Messages to one account in 24 hours (R43): 1 to 10. Defaults to 10. */
  sendsPerDay: count('messages', 1, 10, 10),
  /** Messages to one mailbox or phone number in an hour (R43): 1 to 5. Defaults to 5. */
  sendsPerDestinationHour: count('messages', 1, 5, 5),
  /** Messages requested from one client address (IPv6: one /64) in an hour (R31, R43): 1 to 10. Defaults to 10. */
  sendsPerClientHour: count('messages', 1, 10, 10),
  /** Messages of one application in a UTC day (R43): 1 to 10,000,000. Defaults to 10,000. */
  sendsPerApplicationDay: count('messages', 1, 10_000_000, 10_000),
  /** Messages of one application to the phones of one country in an hour (R103): 1 to 1,000,000. Defaults to 1,000. */
  sendsPerCountryHour: count('messages', 1, 1_000_000, 1_000),
  /** Messages of one application to the phones of one prefix (10,000 numbers) in an hour (R103): 1 to 1,000,000. Defaults to 500. */
  sendsPerPrefixHour: count('messages', 1, 1_000_000, 500),
  /** Share of the codes sent to phones that must be typed, per country and prefix (R103): 0 to 90 percent; 0 switches this off. Defaults to 25. */
  minConversionPercent: count('percent', 0, 90, 25),
  /** Codes to one country that may stay untyped before `minConversionPercent` holds (R103): 10 to 100,000. Defaults to 100. */
  untypedPerCountry: count('codes', 10, 100_000, 100),
  /** Codes to one prefix that may stay untyped before `minConversionPercent` holds (R103): 5 to 10,000. Defaults to 20. */
  untypedPerPrefix: count('codes', 5, 10_000, 20),
  /** How long a new authenticator secret waits for its first valid code (R98): 5 minutes to 1 hour. Defaults to `'15m'`. */
  enrollmentLifetime: duration('5m', '1h', '15m'),
  /** Steps of 30 seconds by which an authenticator app may be ahead of the service's clock (R50): 0 or 1. Defaults to 0. */
  appStepsAhead: count('steps', 0, 1, 0),
  /** Codes in a set of backup codes (R58): 8 to 16. Defaults to 10. */
  backupCodes: count('codes', 8, 16, 10),
  /** Characters in a backup code, 5 bits each (R58): 13 to 32. Defaults to 16. */
  backupCodeLength: count('characters', 13, 32, 16),
  /** Security keys and passkeys of one account: 1 to 100. Defaults to 20. */
  keysPerAccount: count('keys', 1, 100, 20),
}

type Ranges = typeof LIMIT_RANGES

/** The name of a limit, as options and settings spell it. */
export type LimitName = keyof Ranges

type LimitValue<Name extends LimitName> = Ranges[Name] extends DurationRange ? Duration : number

/** Limits as an application or operator sets them. */
export type LimitOptions = {
  readonly [Name in LimitName]?: LimitValue<Name> | undefined
}

/** Limits as the code reads them: complete, and durations in milliseconds. */
export type Limits = {
  readonly [Name in LimitName as Ranges[Name] extends DurationRange ? `${Name}Ms` : Name]: number
}

/** The names of all limits. */
export const LIMIT_NAMES = Object.keys(LIMIT_RANGES) as LimitName[]

/** Whether a value of this limit is a duration. */
export function isDurationLimit(name: LimitName): boolean {
  return LIMIT_RANGES[name].unit === 'ms'
}

/** The smallest and largest value and the default of a limit; those of durations in milliseconds. */
export function limitRange(name: LimitName): { readonly [Bound in 'min' | 'max' | 'default']: number } {
  const range = LIMIT_RANGES[name]
  const toNumber = (value: Duration) => durationMs(value) ?? Number.NaN
  return { min: toNumber(range.min), max: toNumber(range.max), default: toNumber(range.default) }
}

function limitRule(name: LimitName): z.ZodType<Duration> {
  const { unit, min, max, default: initial } = LIMIT_RANGES[name]
  const range = limitRange(name)
  const isAllowed = (value: unknown) => {
    const number = unit === 'ms' ? durationMs(value) : value
    return (
      typeof number === 'number' && Number.isInteger(number) && number >= range.min && number <= range.max
    )
  }
  const error =
    unit === 'ms'
      ? `${name} must be a duration from ${min} to ${max}, such as ${initial}, or a number of milliseconds (default ${initial})`
      : `${name} must be a whole number of ${unit} from ${min} to ${max} (default ${initial})`
  return z.custom<Duration>(isAllowed, { error })
}

/** The rule of each limit; none has a default, so that only what was set is kept. */
export const limitRules = Object.fromEntries(
  LIMIT_NAMES.map((name) => [name, limitRule(name).optional()]),
) as {
  [Name in LimitName]: z.ZodOptional<z.ZodType<LimitValue<Name>, LimitValue<Name>>>
}

/** Complete limits: what is set, then `base`, then the defaults. */
export function limitsFrom(set: LimitOptions, base?: Limits): Limits {
  const entries = LIMIT_NAMES.map((name) => {
    const key = isDurationLimit(name) ? `${name}Ms` : name
    return [key, durationMs(set[name]) ?? base?.[key as keyof Limits] ?? limitRange(name).default]
  })
  return Object.fromEntries(entries)
}
