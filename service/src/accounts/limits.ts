import { COUNTERSIGN_CODES } from 'countersign/protocol'
import * as z from 'zod'
import { LOG_LEVELS } from '../telemetry/log/logger.js'
import { type Duration, durationMs, durationText } from '../time.js'
import type { SettingText } from './applications/setting-text.js'

interface CountRange {
  /** The resource that it limits, as documents, the console and the command line show it. */
  readonly hint: string
  /** The events that are counted; may be empty. */
  readonly unit: string
  readonly min: number
  readonly max: number
  /** `undefined` when it depends on other options, as `usual` says. */
  readonly default: number | undefined
  /** The default in words. */
  readonly usual?: string
}

interface DurationRange {
  readonly hint: string
  readonly unit: 'ms'
  readonly min: Duration
  readonly max: Duration
  readonly default: Duration
  readonly usual?: string
}

/** A range whose hint follows. */
const range = <Range>(given: Range) => ({ says: (hint: string) => ({ hint, ...given }) })

const count = <const Unit extends string, const Initial extends number | undefined>(
  unit: Unit,
  min: number,
  max: number,
  initial: Initial,
) => range({ unit, min, max, default: initial })

const duration = (min: Duration, max: Duration, initial: Duration) =>
  range({ unit: 'ms' as const, min, max, default: initial })

// A client refuses other codes itself.
const { delivered } = COUNTERSIGN_CODES

/** Every limit of an application with its unit, allowed range, default and description. The service does not start with a value outside the range. */
export const LIMIT_RANGES = {
  codeDigits: count('digits', delivered.shortest, delivered.longest, 6).says(
    'Length of a code that is sent.',
  ),
  // R36
  codeLifetime: duration('1m', '10m', '5m').says('How long a code sent to a phone is valid.'),
  emailCodeLifetime: duration('1m', '10m', '10m').says('How long a code sent by email is valid.'),
  // R22
  attemptsPerChallenge: count('attempts', 3, 10, 5).says('How many codes are checked for one challenge.'),
  // R23
  failuresBeforeLock: count('failures', 5, 10, 10).says('Wrong codes within 24 hours that lock an account.'),
  // R27
  lockDuration: duration('15m', '24h', '30m').says(
    'The first lock; each further one lasts twice as long, up to 24 hours.',
  ),
  // R26
  failuresBeforeDisable: count('failures', 20, 100, 100).says(
    'Wrong codes since a factor was bound that disable it.',
  ),
  resendDelay: duration('20s', '5m', '30s').says(
    'Wait before a code is sent again for the first time; then twice, then four times as long.',
  ),
  // R43
  sendsPerTenMinutes: count('messages', 1, 5, 5).says('Messages to one account in ten minutes.'),
  sendsPerDay: count('messages', 1, 10, 10).says('Messages to one account in 24 hours.'),
  sendsPerDestinationHour: count('messages', 1, 5, 5).says(
    'Messages to one mailbox or phone number in an hour.',
  ),
  // R31, R43
  sendsPerClientHour: count('messages', 1, 10, 10).says(
    'Messages requested from one client address (IPv6: one /64) in an hour.',
  ),
  sendsPerApplicationDay: count('messages', 1, 10_000_000, 10_000).says(
    'Messages of the application in a UTC day.',
  ),
  phoneSendsPercent: count('percent', 1, 100, 80).says(
    'Share of `sendsPerApplicationDay` that SMS, WhatsApp and calls may use up, so that SMS pumping leaves email its part.',
  ),
  // R103
  sendsPerCountryHour: count('messages', 1, 1_000_000, 1_000).says(
    'Messages to the phones of one country in an hour.',
  ),
  sendsPerPrefixHour: count('messages', 1, 1_000_000, 500).says(
    'Messages to the phones of one prefix (10,000 numbers) in an hour.',
  ),
  minConversionPercent: count('percent', 0, 90, 25).says(
    'Share of the codes sent to phones that must be typed; 0 switches this off.',
  ),
  untypedPerCountry: count('codes', 10, 100_000, 100).says(
    'Codes to one country that may stay untyped before the share counts.',
  ),
  untypedPerPrefix: count('codes', 5, 10_000, 20).says(
    'Codes to one prefix that may stay untyped before the share counts.',
  ),
  // R98
  enrollmentLifetime: duration('5m', '1h', '15m').says(
    'How long a new authenticator app waits for its first code.',
  ),
  // R50
  appStepsAhead: count('steps', 0, 1, 0).says(
    "Steps of 30 seconds by which an app may be ahead of the service's clock.",
  ),
  // R58
  backupCodes: count('codes', 8, 16, 10).says('Codes in a set of backup codes.'),
  backupCodeLength: count('characters', 13, 32, 16).says(
    'Characters in a backup code, 5 bits each. Codes with another length stay valid if they are sent with Kind=BACKUP.',
  ),
  keysPerAccount: count('keys', 1, 100, 20).says('Security keys and passkeys of one account.'),
} as const

/** The same for how a process uses its database, its time and its transcription engine. */
const PROCESS_RANGES = {
  databasePoolSize: count('', 1, 500, 10).says('Connections of this process to PostgreSQL.'),
  databaseConnectTimeout: duration('1s', '30s', '2s').says('How long connecting to PostgreSQL may take.'),
  databaseStatementTimeout: duration('1s', '60s', '3s').says('How long a statement on PostgreSQL may take.'),
  requestTimeout: duration('4s', '120s', '8s').says(
    'How long a request may take, from the arrival of its headers; then it is answered with `unavailable`. Recordings have limits of their own.',
  ),
  requestsPerAccount: count('', 1, 1_000, 8).says(
    'Requests of one account that may be in progress in this process at once; further ones are answered with `account_busy`. Keep it below `databasePoolSize`.',
  ),
  transcriberConcurrency: {
    ...count('', 1, 1_000, undefined).says('Recordings that the engine transcribes at once.'),
    usual: '16 with a transcription server, else the number of processor cores',
  },
  transcriberTimeout: duration('10s', '24h', '5m').says(
    'How long the engine may take for a recording; in a job, at least as long as the recording lasts.',
  ),
  recordingLength: duration('1s', '24h', '10m').says('How long a recording may last.'),
  recordingMegabytes: count('MB', 1, 1_000_000, 25).says('Size of a recording.'),
  recordingTimeout: duration('1s', '24h', '60s').says(
    'How long a recording may take to arrive, by upload or from its address.',
  ),
  jobRecordingLength: duration('1s', '24h', '4h').says(
    'How long the recording of a transcription job may last.',
  ),
  jobRecordingMegabytes: count('MB', 1, 1_000_000, 1_024).says(
    'Size of the recording of a job. The temporary folder (`TMPDIR`) must have room for it and for two megabytes per minute.',
  ),
  jobRecordingTimeout: duration('1s', '24h', '1h').says(
    'How long the recording of a job may take to arrive.',
  ),
  jobStorageMegabytes: count('MB', 1, 10_000_000, 4_096).says(
    'Size of all recordings of an application that wait in the database for their jobs.',
  ),
  transcriptionStreams: {
    ...count('', 1, 10_000, undefined).says('Streams that are transcribed at once.'),
    usual: '64 with a server, else two per processor core',
  },
  drainDuration: {
    ...duration('0s', '60s', '5s').says(
      'How long `/readyz` reports 503 before the service stops accepting requests.',
    ),
    usual: '5s in production, else 0s',
  },
} as const

type Ranges = typeof LIMIT_RANGES
type ProcessRanges = typeof PROCESS_RANGES
type RangeName = keyof Ranges | keyof ProcessRanges
type Range = CountRange | DurationRange

const RANGES: Readonly<Record<RangeName, Range>> = { ...LIMIT_RANGES, ...PROCESS_RANGES }

/** The name of a limit, as options and settings spell it. */
export type LimitName = keyof Ranges

type ValueOf<Row> = Row extends { unit: 'ms' } ? Duration : number

/** Limits as an application or operator sets them. */
export type LimitOptions = {
  readonly [Name in keyof Ranges]?: ValueOf<Ranges[Name]> | undefined
}

/** Limits as the code reads them: complete, and durations in milliseconds. */
export type Limits = {
  readonly [Name in LimitName as Ranges[Name] extends DurationRange ? `${Name}Ms` : Name]: number
}

/** The names of all limits. */
export const LIMIT_NAMES = Object.keys(LIMIT_RANGES) as LimitName[]

/** Description, range and default of a limit; `undefined` for any other name. */
export function limitText(name: string): (SettingText & { readonly allowed: string }) | undefined {
  if (!isRangeName(name)) return undefined
  const { hint, unit, min, max, default: initial, usual = spell(initial) } = RANGES[name]
  const counted = unit === 'ms' || unit === '' ? '' : ` ${unit}`
  return { hint, allowed: `${spell(min)} to ${spell(max)}${counted}`, usual }
}

function isRangeName(name: string): name is RangeName {
  return Object.hasOwn(RANGES, name)
}

// One for all: `toLocaleString` makes its own each time.
const ENGLISH_NUMBER = new Intl.NumberFormat('en')

function spell(value: number | string = ''): string {
  return typeof value === 'number' ? ENGLISH_NUMBER.format(value) : value
}

/** A limit as an operator writes it. */
export function limitValue(limits: Limits, name: keyof typeof LIMIT_RANGES): Duration {
  const isDuration = LIMIT_RANGES[name].unit === 'ms'
  return isDuration ? durationText(limits[`${name}Ms` as keyof Limits]) : limits[name as keyof Limits]
}

/** Bounds and durations in milliseconds. */
function toNumber(value: Duration | undefined): number {
  return durationMs(value) ?? Number.NaN
}

function createRule(name: RangeName): z.ZodType<Duration> {
  const { unit, min, max, default: initial } = RANGES[name]
  const [least, most] = [toNumber(min), toNumber(max)]
  const isAllowed = (value: unknown) => {
    const number = unit === 'ms' ? durationMs(value) : value
    return typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most
  }
  const usual = initial === undefined ? '' : ` (default ${initial})`
  const error =
    unit === 'ms'
      ? `${name} must be a duration from ${min} to ${max}, such as ${initial}, or a number of milliseconds${usual}`
      : `${name} must be a whole number${unit && ` of ${unit}`} from ${min} to ${max}${usual}`
  return z.custom<Duration>(isAllowed, { error })
}

/** The rule of each limit; none has a default, so that only what was set is kept. */
export const limitRules = Object.fromEntries(
  LIMIT_NAMES.map((name) => [name, createRule(name).optional()]),
) as {
  [Name in LimitName]: z.ZodOptional<z.ZodType<ValueOf<Ranges[Name]>, ValueOf<Ranges[Name]>>>
}

function createProcessRule(name: keyof ProcessRanges): z.ZodType {
  const { unit, default: initial } = PROCESS_RANGES[name]
  if (initial === undefined) return createRule(name).optional()
  return unit === 'ms'
    ? createRule(name).transform(toNumber).default(toNumber(initial))
    : createRule(name).default(initial)
}

/** The rule of each limit of a process, which adds its default; durations are then in milliseconds. */
export const { drainDuration: drainRule, ...processRules } = Object.fromEntries(
  Object.keys(PROCESS_RANGES).map((name) => [name, createProcessRule(name as keyof ProcessRanges)]),
) as {
  [Name in keyof ProcessRanges]: ProcessRanges[Name]['default'] extends undefined
    ? z.ZodOptional<z.ZodType<number, number>>
    : z.ZodDefault<z.ZodType<number, ValueOf<ProcessRanges[Name]>>>
}

/** The name of each limit in `Limits`, with its default. */
const LIMITS = LIMIT_NAMES.map((name) => {
  const { unit, default: initial } = LIMIT_RANGES[name]
  return { name, key: unit === 'ms' ? `${name}Ms` : name, initial: toNumber(initial) }
})

const defaults = LIMITS.map(({ key, initial }) => [key, initial])
const DEFAULT_LIMITS: Limits = Object.fromEntries(defaults)

/** Complete limits: what is set, then `base`. */
export function completeLimits(set: LimitOptions, base = DEFAULT_LIMITS): Limits {
  const own = LIMITS.filter(({ name }) => set[name] !== undefined)
  if (own.length === 0) return base
  return { ...base, ...Object.fromEntries(own.map(({ name, key }) => [key, toNumber(set[name])])) }
}

const createPortRule = (error: string) =>
  z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, { error })
    .transform(Number)

const createHostRule = (error: string) => z.string().regex(/^[A-Za-z0-9.:%_-]{1,255}$/, { error })

/** Options of the process that serves, beside the options of `createService`. Environment variables set it. */
export const processSchema = z.strictObject({
  /** The address to listen on, such as `0.0.0.0`. Defaults to 127.0.0.1, in production to every address. */
  host: createHostRule(
    'host must be an address of this machine, such as 127.0.0.1, 0.0.0.0 or ::',
  ).optional(),
  /** The port to listen on. Defaults to `PORT`, else 4000. */
  port: createPortRule('port must be a port number from 0 to 65535 (default 4000)').prefault('4000'),
  /** The least urgent events in the log: info, warn or error. Defaults to info. */
  logLevel: z
    .enum(LOG_LEVELS, { error: `logLevel must be ${LOG_LEVELS.join(', ')} (default info)` })
    .default('info'),
  drainDuration: drainRule,
  /** A port for the console alone. Defaults to the port of the API. */
  consolePort: createPortRule(
    'consolePort must be a port number from 0 to 65535 (default: that of the API)',
  ).optional(),
  /** The address to listen on for the console alone; needs `consolePort`. Defaults to `host`. */
  consoleHost: createHostRule('consoleHost must be an address of this machine, such as 127.0.0.1').optional(),
  /** Pages for operators at `/console`. Defaults to `false`. */
  console: z.boolean({ error: 'console must be true or false (default false)' }).default(false),
})
